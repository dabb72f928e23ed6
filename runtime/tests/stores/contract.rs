//! What every store has to do, whatever it is made of.

use babelqueue::idempotency::IdempotencyStore;

pub(crate) type Check = Result<(), Box<dyn std::error::Error>>;

/// The shared test of the trait, on a store that remembers nothing yet.
pub(crate) async fn keeps_the_contract(store: &impl IdempotencyStore) -> Check {
    assert!(!store.is_done("a").await?, "nothing was marked");
    store.forget("a").await?;

    store.mark_done("a").await?;
    store.mark_done("a").await?;
    assert!(store.is_done("a").await?, "what was marked is done");
    assert!(!store.is_done("b").await?, "another id is not");
    store.mark_done("b").await?;
    store.forget("a").await?;
    assert!(!store.is_done("a").await?, "what was forgotten is not done");
    assert!(store.is_done("b").await?, "another id is not forgotten with it");
    store.mark_done("a").await?;
    assert!(store.is_done("a").await?, "what was forgotten can be marked again");

    // Ids are compared byte by byte, and are whatever a producer wrote.
    let long = "x".repeat(100_000);
    let longer = format!("{long}x");
    let ids =
        ["A", " a", "a ", "a\0b", "a\0c", "süß", "su\u{308}ß", "a:b", "%", "a\nb", "'; --", "\\x00", &long, &longer];
    for (index, id) in ids.iter().enumerate() {
        assert!(!store.is_done(id).await?, "{index}: no other id stands for it");
        store.mark_done(id).await?;
        assert!(store.is_done(id).await?, "{index}: it is remembered");
    }
    Ok(())
}
