//! A store in Redis (feature `redis`).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, aio::MultiplexedConnection};

use super::{
    remote::{REMEMBER_FOR, TIMEOUT, lifetime_ms, within},
    store::{IdempotencyStore, StoreError},
};

/// Remembers messages in Redis, or in a server that speaks its protocol: one key a message, which Redis expires.
///
/// It connects when first asked, and anew after an error, so the server may start later than the consumer. What it
/// remembers is as durable as Redis is set up to be: without persistence a restart forgets all, and with it a crash may
/// forget the last second. A forgotten message is handled again if it comes again, never lost.
///
/// For `rediss://` add `redis` with one of its TLS features, such as `tokio-rustls-comp`, to your own dependencies.
///
/// ```
/// use std::time::Duration;
///
/// use babelqueue::idempotency::{Idempotency, RedisStore, StoreFailure};
///
/// let store = RedisStore::new("redis://localhost:6379", "orders-workers")?.remember_for(Duration::from_secs(86_400));
/// let guard = Idempotency::new(store, StoreFailure::RunAnyway);
/// # Ok::<(), babelqueue::idempotency::StoreError>(())
/// ```
pub struct RedisStore {
    client: Client,
    scope: String,
    remember_for: Duration,
    timeout: Duration,
    /// Carries all calls at once; none before the first call and after one that failed.
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl RedisStore {
    /// A store at this address: `redis://[user][:password@]host[:port][/database]`. The key of a message is
    /// `{scope}:{id}`; the name of the consumer group is a good scope.
    ///
    /// # Errors
    ///
    /// The address cannot be read. Whether something answers there is not asked yet.
    pub fn new(url: &str, scope: impl Into<String>) -> Result<Self, StoreError> {
        Ok(Self {
            client: Client::open(url).map_err(StoreError::new)?,
            scope: scope.into(),
            remember_for: REMEMBER_FOR,
            timeout: TIMEOUT,
            connection: Mutex::default(),
        })
    }

    /// How long a message is remembered, 7 days by default; at least 1 ms, at most a century.
    #[must_use]
    pub fn remember_for(mut self, time: Duration) -> Self {
        self.remember_for = time;
        self
    }

    /// How long a call may take, connecting included, 2 s by default. While the server is silent each record waits so
    /// long before its handler, and once more behind it.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn command(&self, name: &str, id: &str) -> Cmd {
        let mut command = Cmd::new();
        command.arg(name).arg(format!("{}:{id}", self.scope));
        command
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let answer = within(self.timeout, self.ask_once(command)).await;
        if answer.is_err() {
            // Whatever it was, the next call starts afresh: a silent connection may be a dead one.
            *self.connection() = None;
        }
        answer
    }

    async fn ask_once<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        let mut connection = self.connect().await?;
        command.query_async(&mut connection).await
    }

    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        if let Some(connection) = &*self.connection() {
            return Ok(connection.clone());
        }
        // The time limit of the whole call counts, not one of each part of it.
        let settings = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        // Calls at the same moment connect each for itself, and the last connection stays.
        let fresh = self.client.get_multiplexed_async_connection_with_config(&settings).await?;
        Ok(self.connection().insert(fresh).clone())
    }

    fn connection(&self) -> MutexGuard<'_, Option<MultiplexedConnection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdempotencyStore for RedisStore {
    async fn is_done(&self, id: &str) -> Result<bool, StoreError> {
        self.ask(&self.command("EXISTS", id)).await
    }

    async fn mark_done(&self, id: &str) -> Result<(), StoreError> {
        let mut command = self.command("SET", id);
        command.arg(1).arg("PX").arg(lifetime_ms(self.remember_for));
        self.ask(&command).await
    }

    async fn forget(&self, id: &str) -> Result<(), StoreError> {
        self.ask::<u64>(&self.command("DEL", id)).await.map(drop)
    }
}

/// Without the address, which may hold a password.
impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("scope", &self.scope)
            .field("remember_for", &self.remember_for)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_read_is_an_error_without_its_password() {
        let no_tls = "rediss://user:pa55word@host";
        for url in ["redis://user:pa55word@host:notaport", "http://user:pa55word@host", no_tls, "pa55word", ""] {
            let error = RedisStore::new(url, "workers").unwrap_err();
            assert!(!format!("{error} {error:?}").contains("pa55word"), "{error}");
        }
        let store = RedisStore::new("redis://user:pa55word@host", "workers").unwrap();
        assert!(!format!("{store:?}").contains("pa55word"));
    }
}
