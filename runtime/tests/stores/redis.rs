//! The store in Redis.

use std::time::Duration;

use babelqueue::{
    Uuid,
    idempotency::{IdempotencyStore, RedisStore, StoreError},
};

use crate::{
    contract::{Check, keeps_the_contract},
    proxy::Proxy,
    server::Server,
    trouble,
};

/// A store in a scope of its own.
fn store(url: &str) -> Result<RedisStore, StoreError> {
    Ok(RedisStore::new(url, Uuid::new_v4())?.timeout(trouble::TIMEOUT))
}

fn server() -> Result<Server, std::env::VarError> {
    Server::named("REDIS")
}

pub(crate) async fn the_store_keeps_the_contract() -> Check {
    keeps_the_contract(&store(&server()?.url)?).await
}

pub(crate) async fn scopes_do_not_see_each_other() -> Check {
    let (one, other) = (store(&server()?.url)?, store(&server()?.url)?);
    one.mark_done("a").await?;
    assert!(!other.is_done("a").await?);
    other.forget("a").await?;
    assert!(one.is_done("a").await?);
    Ok(())
}

pub(crate) async fn a_mark_expires() -> Check {
    let store = store(&server()?.url)?;
    store.mark_done("kept").await?;
    let store = store.remember_for(Duration::from_millis(200));
    store.mark_done("short").await?;
    trouble::expires(&store, "short").await?;
    assert!(store.is_done("kept").await?);
    Ok(())
}

pub(crate) async fn a_wrong_password_is_a_typed_error_that_does_not_tell_it() -> Check {
    let url = server()?.url_with_password("mistaken");
    trouble::refused(store(&url)?, "mistaken").await
}

pub(crate) async fn a_silent_server_is_an_error_in_time_and_its_connection_is_given_up() -> Check {
    let server = server()?;
    let proxy = Proxy::start(server.address()).await?;
    trouble::silence(&proxy, &store(&server.url_at(&proxy.address))?).await
}

/// It keeps nothing on disk here, so what was marked is gone: that is promised no better.
pub(crate) async fn a_killed_server_is_an_error_in_time_and_its_successor_is_used() -> Check {
    let server = server()?;
    trouble::crash(&server, &store(&server.url)?).await.map(drop)
}
