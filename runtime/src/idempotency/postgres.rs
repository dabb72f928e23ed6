//! A store in PostgreSQL (feature `postgres`).

use std::{fmt, sync::Arc, time::Duration};

use deadpool_postgres::{
    Manager, Object, Pool, PoolError,
    tokio_postgres::{
        Config, NoTls, Row,
        types::{ToSql, Type},
    },
};

use super::{
    remote::{BoxError, REMEMBER_FOR, TIMEOUT, lifetime_ms, within},
    store::{IdempotencyStore, StoreError},
};

/// Remembers messages in a table of PostgreSQL: durable as any committed row. Clones share their connections.
///
/// It connects when first asked, and anew after an error, so the server may start later than the consumer.
///
/// ```no_run
/// use babelqueue::idempotency::{Idempotency, PostgresStore, StoreFailure};
///
/// # async fn service() -> Result<(), babelqueue::idempotency::StoreError> {
/// let store = PostgresStore::new("postgres://user:password@localhost/orders", "orders-workers")?;
/// store.create_table().await?;
/// let guard = Idempotency::new(store.clone(), StoreFailure::FailRecord);
///
/// // Now and then, such as once an hour:
/// store.purge().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    pool: Pool,
    scope: Arc<str>,
    remember_for: Duration,
    timeout: Duration,
}

impl PostgresStore {
    /// What [`PostgresStore::create_table`] runs, for those who keep their tables by migrations. An id is kept as its
    /// SHA-256, so that any text of any length has its place: `WHERE id = sha256('…')` finds it.
    pub const CREATE_TABLE: &str = "\
CREATE TABLE IF NOT EXISTS babelqueue_idempotency (
    scope text NOT NULL,
    id bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (scope, id)
);
CREATE INDEX IF NOT EXISTS babelqueue_idempotency_expires_at ON babelqueue_idempotency (expires_at);
";

    /// A store at this address, without TLS: `postgres://user:password@host:port/database`, or `key=value` words as libpq
    /// takes them. What one `scope` remembers no other sees; the name of the consumer group is a good one.
    ///
    /// # Errors
    ///
    /// The address cannot be read. Whether something answers there is not asked yet.
    pub fn new(url: &str, scope: impl Into<String>) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(StoreError::new)?;
        let pool = Pool::builder(Manager::new(config, NoTls)).build().map_err(StoreError::new)?;
        Ok(Self::with_pool(pool, scope))
    }

    /// A store on a pool of yours, with TLS or other settings of your choice.
    #[must_use]
    pub fn with_pool(pool: Pool, scope: impl Into<String>) -> Self {
        Self { pool, scope: scope.into().into(), remember_for: REMEMBER_FOR, timeout: TIMEOUT }
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

    /// Creates the table `babelqueue_idempotency` and its index unless they are there, in the schema that comes first in
    /// the account's search path. Several instances may do so at once.
    ///
    /// # Errors
    ///
    /// The server does not answer, or the account may not create tables.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        // Two that create a table at the same moment would otherwise fail on each other in the catalogue; the lock ends
        // with the transaction that the statements form. The number is arbitrary, and ours.
        let statements = format!("SELECT pg_advisory_xact_lock(6214803301);\n{}", Self::CREATE_TABLE);
        within(self.timeout, async {
            let client = self.lend().await?;
            Ok::<_, BoxError>(client.batch_execute(&statements).await?)
        })
        .await
    }

    /// Deletes what has expired, of every scope, and says how much that was. Marks that have expired count no more, but
    /// take up room until then. It may take longer than the timeout of a call.
    ///
    /// # Errors
    ///
    /// The server does not answer.
    pub async fn purge(&self) -> Result<u64, StoreError> {
        let client = within(self.timeout, self.lend()).await?;
        let deleted = client.execute("DELETE FROM babelqueue_idempotency WHERE expires_at <= now()", &[]).await;
        deleted.map_err(StoreError::new)
    }

    /// A connection. What the pool says of itself would only hide what the server says.
    async fn lend(&self) -> Result<Object, BoxError> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error.into(),
            error => error.into(),
        })
    }

    /// Asks with the scope and the id as `$1` and `$2`, in one round trip, without a prepared statement that a pooler
    /// between here and the server would not know.
    async fn ask(
        &self,
        statement: &str,
        id: &str,
        more: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StoreError> {
        let (scope, id) = (&*self.scope, id.as_bytes());
        let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> = vec![(&scope, Type::TEXT), (&id, Type::BYTEA)];
        parameters.extend_from_slice(more);
        let mut lent = None;
        let answer = within(self.timeout, async {
            let client = lent.insert(self.lend().await?);
            Ok::<_, BoxError>(client.query_typed(statement, &parameters).await?)
        })
        .await;
        if answer.is_err()
            && let Some(client) = lent
        {
            // Not back into the pool: a silent connection may be a dead one.
            drop(Object::take(client));
        }
        answer
    }
}

impl IdempotencyStore for PostgresStore {
    async fn is_done(&self, id: &str) -> Result<bool, StoreError> {
        let statement =
            "SELECT FROM babelqueue_idempotency WHERE scope = $1 AND id = sha256($2) AND expires_at > now()";
        Ok(!self.ask(statement, id, &[]).await?.is_empty())
    }

    async fn mark_done(&self, id: &str) -> Result<(), StoreError> {
        let statement = "INSERT INTO babelqueue_idempotency (scope, id, expires_at) \
                         VALUES ($1, sha256($2), now() + $3 * interval '1 millisecond') \
                         ON CONFLICT (scope, id) DO UPDATE SET expires_at = excluded.expires_at";
        self.ask(statement, id, &[(&lifetime_ms(self.remember_for), Type::INT8)]).await.map(drop)
    }

    async fn forget(&self, id: &str) -> Result<(), StoreError> {
        let statement = "DELETE FROM babelqueue_idempotency WHERE scope = $1 AND id = sha256($2)";
        self.ask(statement, id, &[]).await.map(drop)
    }
}

/// Without the address, which may hold a password.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
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
        for url in ["postgres://user:pa55word@host:notaport/db", "password=pa55word port=x", "pa55word"] {
            let error = PostgresStore::new(url, "workers").unwrap_err();
            assert!(!format!("{error} {error:?}").contains("pa55word"), "{error}");
        }
        let store = PostgresStore::new("postgres://user:pa55word@host", "workers").unwrap();
        assert!(!format!("{store:?}").contains("pa55word"));
    }
}
