//! Against a real Apache Kafka broker and the real SDK for Python. Run by `cargo xtask test live`, which starts both.

mod consuming;
mod crash;
mod interop;
mod jobs;
mod publishing;
mod redriving;
mod reinjecting;
mod secured;
mod security;
mod settling;
mod topics;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// What a test gets: it ends well, or says what is wrong.
type Check = Result<(), Box<dyn std::error::Error>>;

/// Each test by the name of its function.
macro_rules! trials {
    ($($module:ident::$name:ident),* $(,)?) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
            jobs::runtime().block_on($module::$name()).map_err(|error| Failed::from(error.to_string()))
        })),*]
    };
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(|first| (first.as_str(), &arguments[2..])) {
        Some((crash::WORKER, settings)) => return crash::worker(settings),
        Some((redriving::WORKER, settings)) => return redriving::worker(settings),
        Some((reinjecting::WORKER, settings)) => return reinjecting::worker(settings),
        Some((secured::WORKER, settings)) => return secured::worker(settings),
        Some((settling::WORKER, settings)) => return settling::worker(settings),
        _ => {}
    }
    if std::env::var("BABELQUEUE_BROKERS").is_err() {
        eprintln!("the live suite needs a real broker: run `cargo xtask test live`, which starts one");
        return ExitCode::FAILURE;
    }
    let trials = trials![
        publishing::a_record_reads_back_as_the_contract_says,
        publishing::an_unknown_topic_is_an_error_within_the_delivery_timeout,
        publishing::a_record_too_large_for_its_topic_fails_alone,
        publishing::a_back_dated_record_is_gone_before_it_is_read,
        consuming::a_topic_created_later_is_read_when_it_appears_and_does_not_hold_the_others,
        consuming::offset_gaps_of_transactions_do_not_hold_the_commit,
        consuming::members_that_join_and_leave_lose_nothing,
        consuming::members_of_a_cooperative_group_that_join_and_leave_lose_nothing,
        consuming::static_members_that_join_and_leave_lose_nothing,
        consuming::members_of_the_new_consumer_protocol_that_join_and_leave_lose_nothing,
        consuming::a_revoked_partition_waits_for_its_handler_and_commits_what_it_finished,
        consuming::a_partition_paused_when_it_was_lost_is_read_when_it_comes_back,
        consuming::a_record_restarts_exactly_once_after_a_clean_stop,
        crash::a_suspended_member_hears_that_its_partitions_were_lost,
        crash::killed_at_random_moments_nothing_is_lost,
        crash::killed_at_random_moments_no_key_loses_a_record_or_its_order,
        crash::killed_at_random_moments_without_an_order_nothing_is_lost,
        reinjecting::each_tier_holds_its_delay_by_the_brokers_clock,
        reinjecting::a_paused_partition_that_comes_back_before_its_records_are_due_goes_on,
        reinjecting::a_paused_partition_that_comes_back_after_its_records_were_due_goes_on,
        reinjecting::a_work_topic_created_later_gets_its_records_in_their_order,
        reinjecting::a_record_that_is_too_large_keeps_its_place_until_its_topic_takes_it,
        reinjecting::killed_at_random_moments_no_record_is_lost,
        reinjecting::both_sdks_move_each_others_records_back,
        interop::python_publishes_and_our_handler_gets_it,
        interop::we_publish_and_the_python_handler_gets_it,
        redriving::two_redrives_at_once_lose_nothing,
        redriving::members_that_join_and_leave_a_redrive_lose_nothing,
        redriving::killed_at_random_moments_a_redrive_loses_nothing,
        redriving::transaction_markers_at_the_end_do_not_hold_a_redrive,
        redriving::a_dry_run_is_no_member_of_the_group_and_commits_nothing,
        redriving::a_failed_write_puts_the_record_back_and_is_reported,
        redriving::a_missing_dead_letter_topic_and_wrong_credentials_are_typed_errors,
        redriving::we_redrive_what_python_gave_up,
        redriving::python_redrives_what_we_gave_up_and_we_continue_where_it_stopped,
        security::wrong_credentials_end_the_consumer_with_a_typed_error,
        security::wrong_credentials_fail_a_publish_with_a_typed_error,
        secured::a_private_ca_is_trusted_from_a_file_and_from_text,
        secured::every_mechanism_signs_in,
        secured::a_client_certificate_is_an_account,
        secured::a_properties_file_of_a_java_client_connects,
        secured::environment_variables_connect,
        secured::a_publisher_that_is_not_let_in_is_told_why_within_seconds,
        secured::a_consumer_that_is_not_let_in_ends_with_the_reason_within_seconds,
        secured::topics_are_not_created_for_who_is_not_let_in,
        secured::no_right_to_write_a_topic_fails_a_publish,
        secured::no_right_to_a_group_or_to_see_a_topic_ends_the_consumer,
        secured::no_right_to_read_a_topic_is_told_as_soon_as_it_is_assigned,
        secured::a_dead_letter_topic_that_may_not_be_written_holds_the_record_and_is_told,
        settling::a_dead_letter_topic_that_goes_missing_holds_the_records_until_it_is_back,
        settling::a_dead_letter_that_is_too_large_loses_its_text_and_then_everything_but_where_it_lies,
        settling::what_a_retry_topic_cannot_hold_is_a_dead_letter,
        settling::a_broker_that_falls_silent_delays_the_retries_and_loses_none,
        settling::killed_between_the_acknowledgement_and_the_commit_nothing_is_lost,
        settling::what_is_not_the_hops_own_arrives_byte_for_byte,
        settling::a_record_comes_back_from_all_hops_byte_for_byte,
        settling::python_retries_what_we_fail,
        settling::we_retry_what_python_fails,
        settling::python_and_we_wrap_poison_alike,
        settling::another_version_is_forwarded_as_it_came_and_committed,
        settling::a_blank_version_is_none_and_a_missing_header_leaves_the_body_to_route,
        settling::an_unknown_urn_is_settled_as_was_chosen,
        settling::what_no_retry_can_heal_is_a_dead_letter_at_once,
        settling::failures_are_counted_by_the_header_and_end_on_the_dead_letter_topic,
        settling::without_a_dead_letter_topic_it_is_dropped_and_without_tiers_it_is_an_error,
        settling::a_requested_delay_takes_the_smallest_tier_that_is_as_long_or_is_an_error,
        settling::a_redrive_goes_to_the_chosen_topic_marks_replays_and_puts_back_the_rest,
        settling::without_its_header_a_waiting_record_goes_to_the_topic_of_its_name,
        topics::what_is_missing_is_created_with_the_right_settings_and_only_once,
        topics::topics_are_created_as_asked,
        topics::more_replicas_to_be_in_sync_than_there_are_are_as_many_as_there_are,
        topics::a_topic_that_exists_is_not_touched_and_all_that_is_wrong_with_it_is_said,
        topics::an_account_that_may_not_look_is_warned_and_one_that_may_not_write_does_not_start,
        topics::a_broker_that_does_not_let_in_is_a_warning_after_a_few_seconds,
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
