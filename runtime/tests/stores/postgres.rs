//! The store in PostgreSQL.

use std::time::Duration;

use babelqueue::{
    Uuid,
    idempotency::{
        IdempotencyStore, PostgresStore, StoreError,
        deadpool_postgres::{
            Manager, Pool,
            tokio_postgres::{self, NoTls},
        },
    },
};
use futures_util::future::try_join_all;

use crate::{
    contract::{Check, keeps_the_contract},
    proxy::Proxy,
    server::Server,
    trouble,
};

/// A store in a scope of its own.
fn new_store(url: &str) -> Result<PostgresStore, StoreError> {
    Ok(PostgresStore::new(url, Uuid::new_v4())?.timeout(trouble::TIMEOUT))
}

/// The same, its table created.
async fn store() -> Result<PostgresStore, Box<dyn std::error::Error>> {
    let store = new_store(&server()?.url)?;
    store.create_table().await?;
    Ok(store)
}

fn server() -> Result<Server, std::env::VarError> {
    Server::named("POSTGRES")
}

async fn execute(database: &str, statement: &str) -> Check {
    let url = server()?.url.replace("/postgres", &format!("/{database}"));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client.batch_execute(statement).await?)
}

/// A URL of a database of its own, without tables.
async fn empty_database() -> Result<String, Box<dyn std::error::Error>> {
    let name = format!("db{}", Uuid::new_v4().simple());
    execute("postgres", &format!("CREATE DATABASE {name}")).await?;
    Ok(server()?.url.replace("/postgres", &format!("/{name}")))
}

pub(crate) async fn the_store_keeps_the_contract() -> Check {
    keeps_the_contract(&store().await?).await
}

pub(crate) async fn scopes_do_not_see_each_other() -> Check {
    let (one, other) = (store().await?, store().await?);
    one.mark_done("a").await?;
    assert!(!other.is_done("a").await?);
    other.forget("a").await?;
    assert!(one.is_done("a").await?);
    Ok(())
}

pub(crate) async fn a_mark_expires_and_only_what_expired_is_purged() -> Check {
    let url = empty_database().await?;
    let store = new_store(&url)?.remember_for(Duration::MAX);
    store.create_table().await?;
    store.mark_done("kept").await?;
    let short = store.clone().remember_for(Duration::from_millis(200));
    short.mark_done("short").await?;
    trouble::expires(&short, "short").await?;
    // Marked again, it counts anew.
    short.mark_done("short").await?;
    assert!(short.is_done("short").await?);
    trouble::expires(&short, "short").await?;
    assert_eq!((store.purge().await?, store.purge().await?), (1, 0));
    assert!(store.is_done("kept").await?);
    Ok(())
}

pub(crate) async fn a_missing_table_is_an_error_that_names_it() -> Check {
    let error = new_store(&empty_database().await?)?.is_done("a").await.expect_err("there is no table");
    assert!(error.to_string().contains("babelqueue_idempotency"), "{error}");
    Ok(())
}

pub(crate) async fn many_create_the_table_at_once() -> Check {
    const MANY: usize = 8;
    let manager = Manager::new(empty_database().await?.parse()?, NoTls);
    let pool = Pool::builder(manager).max_size(MANY).build()?;
    // Connected already, they meet in the catalogue.
    drop(try_join_all((0..MANY).map(|_| pool.get())).await?);
    let store = PostgresStore::with_pool(pool, "many");
    try_join_all((0..MANY).map(|_| store.create_table())).await?;
    assert!(!store.is_done("a").await?);
    Ok(())
}

pub(crate) async fn a_wrong_password_is_a_typed_error_that_does_not_tell_it() -> Check {
    let url = server()?.url_with_password("mistaken");
    trouble::refused(new_store(&url)?, "mistaken").await
}

pub(crate) async fn a_silent_server_is_an_error_in_time_and_its_connection_is_given_up() -> Check {
    store().await?;
    let server = server()?;
    let proxy = Proxy::start(server.address()).await?;
    trouble::silence(&proxy, &new_store(&server.url_at(&proxy.address))?).await
}

/// What was marked is a committed row.
pub(crate) async fn a_killed_server_is_an_error_in_time_and_its_successor_remembers() -> Check {
    let remembers = trouble::crash(&server()?, &store().await?).await?;
    assert!(remembers);
    Ok(())
}
