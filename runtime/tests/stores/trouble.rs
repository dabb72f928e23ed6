//! What a store does while its server is away, and afterwards; the same for every store.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use babelqueue::idempotency::{Idempotency, IdempotencyStore, StoreError, StoreFailure};

use crate::{contract::Check, proxy::Proxy, server::Server};

/// What the stores of these tests are told.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// The timeout and what a busy machine adds; less than the timeout that a store has by itself.
const IN_TIME: Duration = Duration::from_millis(1900);
const PATIENCE: Duration = Duration::from_secs(30);

/// Its server killed, the store fails in time; the server back, it works again. Says whether it still remembers what was
/// marked before.
pub(crate) async fn crash(server: &Server, store: &impl IdempotencyStore) -> Result<bool, Box<dyn std::error::Error>> {
    store.mark_done("before").await?;
    assert!(store.is_done("before").await?);

    server.kill()?;
    let failed = async {
        falls_silent(store).await?;
        fails(store.is_done("before")).await?;
        fails(store.mark_done("while")).await?;
        fails(store.forget("before")).await
    }
    .await;
    server.start()?;
    failed?;

    answers(store).await?;
    store.mark_done("after").await?;
    assert!(store.is_done("after").await?);
    assert!(!store.is_done("while").await?, "a mark that failed was made all the same");
    Ok(store.is_done("before").await?)
}

/// Its server silent, the store fails in time; the silent connection is not used again.
pub(crate) async fn silence(proxy: &Proxy, store: &impl IdempotencyStore) -> Check {
    store.mark_done("before").await?;
    proxy.fall_silent();
    fails(store.is_done("before")).await?;
    fails(store.is_done("before")).await?;
    proxy.speak();
    answers(store).await?;
    assert!(store.is_done("before").await?);
    Ok(())
}

/// A refused account is an error that can be read and holds no secret, and the guard fails the message with it.
pub(crate) async fn refused(store: impl IdempotencyStore, password: &str) -> Check {
    let error = fails(store.is_done("a")).await?;
    let text = format!("{error} {error:?}");
    assert!(!text.contains(password), "{text}");
    assert!(text.to_lowercase().contains("password"), "{text}");
    let guard = Idempotency::new(store, StoreFailure::FailRecord);
    let error = guard.run("a", async { panic!("it runs") }).await.expect_err("the store refuses");
    assert!(error.get_ref().is::<StoreError>(), "{error}");
    Ok(())
}

async fn fails<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<StoreError, String> {
    let asked = Instant::now();
    let answer = call.await;
    let took = asked.elapsed();
    match answer {
        Ok(_) => Err("the store answers".to_owned()),
        Err(error) if took > IN_TIME => Err(format!("only after {took:?}: {error}")),
        Err(error) => Ok(error),
    }
}

/// Asks until the store fails: a process of the server that serves a connection may outlive its parent by a moment.
async fn falls_silent(store: &impl IdempotencyStore) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    while store.is_done("before").await.is_ok() {
        if Instant::now() > deadline {
            return Err("the killed server still answers".to_owned());
        }
    }
    Ok(())
}

/// Asks until the store answers: no one tells when its server is ready.
async fn answers(store: &impl IdempotencyStore) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = store.is_done("before").await {
        if Instant::now() > deadline {
            return Err(format!("still no answer: {error}"));
        }
    }
    Ok(())
}

/// Asks until the mark is gone: no one tells when it expires.
pub(crate) async fn expires(store: &impl IdempotencyStore, id: &str) -> Check {
    let deadline = Instant::now() + PATIENCE;
    while store.is_done(id).await? {
        if Instant::now() > deadline {
            return Err("the mark does not expire".into());
        }
    }
    Ok(())
}
