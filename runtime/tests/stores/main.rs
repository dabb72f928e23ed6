//! The idempotency guard's stores on real servers. Run by `cargo xtask test stores`, which starts them.

mod contract;
mod postgres;
mod proxy;
mod redis;
mod server;
mod trouble;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// Each test by the name of its function.
macro_rules! trials {
    ($($module:ident::$name:ident),* $(,)?) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on($module::$name()).map_err(|error| Failed::from(error.to_string()))
        })),*]
    };
}

fn main() -> ExitCode {
    if !(server::is_named("REDIS") && server::is_named("POSTGRES")) {
        eprintln!("the stores need real servers: run `cargo xtask test stores`, which starts them");
        return ExitCode::FAILURE;
    }
    let mut arguments = Arguments::from_args();
    // The tests share the servers, and some kill them.
    arguments.test_threads = Some(1);
    let trials = trials![
        redis::the_store_keeps_the_contract,
        redis::scopes_do_not_see_each_other,
        redis::a_mark_expires,
        redis::a_wrong_password_is_a_typed_error_that_does_not_tell_it,
        redis::a_silent_server_is_an_error_in_time_and_its_connection_is_given_up,
        redis::a_killed_server_is_an_error_in_time_and_its_successor_is_used,
        postgres::the_store_keeps_the_contract,
        postgres::scopes_do_not_see_each_other,
        postgres::a_mark_expires_and_only_what_expired_is_purged,
        postgres::a_missing_table_is_an_error_that_names_it,
        postgres::many_create_the_table_at_once,
        postgres::a_wrong_password_is_a_typed_error_that_does_not_tell_it,
        postgres::a_silent_server_is_an_error_in_time_and_its_connection_is_given_up,
        postgres::a_killed_server_is_an_error_in_time_and_its_successor_remembers,
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}
