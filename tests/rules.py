"""Which test shows which rule of the log; docs/reliability.md lists it (tests/reliability.py).

A rule is named R and a number. Those from R73 on are the tree's, with the tests of their modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_STATE = "e2e/test_state_rules.py::"
_RUN = "e2e/test_run_rules.py::"
_MATRIX = "e2e/test_crash_matrix.py::test_r38_killed_there_everything_before_is_kept_and_it_goes_on"
_FAULTS = "e2e/test_disk_faults.py::test_r48_a_disk_that_fails_costs_no_entry_and_leaves_no_ghost"
_VIEWS = "e2e/test_views_of_old_files.py::test_r07_a_view_says_of_an_old_file_what_it_always_said"
_MUTATIONS = (
    "e2e/test_mutations.py::"
    "test_r24_every_single_line_mutation_before_the_last_seal_is_found_and_named"
)
_REPAIR = "session/health/test_repair.py::"
_SESSION = "session/file/test_session.py::"
_INDEX = "session/store/test_catalog.py::"
_EXAMPLES = "test_docs.py::test_an_example_session_is_sound_opens_in_every_view_and_replays"

TESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "R01": (
        _STATE + "test_r01_no_live_object_is_in_a_file",
        "session/format/test_codec.py::test_what_json_cannot_hold_is_refused",
    ),
    "R02": (_STATE + "test_r02_a_killed_session_is_in_a_new_process_what_it_was",),
    "R03": (
        _VIEWS,
        "ui/text/test_pacing.py::test_pauses_are_those_of_then_made_shorter_and_never_long",
    ),
    "R04": (_STATE + "test_r04_each_change_before_a_request_is_a_new_snapshot_and_says_change",),
    "R05": ("agent/turn/test_loop.py::test_an_abort_in_the_stream_keeps_what_came",),
    "R06": (_STATE + "test_r06_whatever_one_does_a_file_only_grows",),
    "R07": (_VIEWS,),
    "R08": (_STATE + "test_r08_without_any_cache_the_next_request_is_the_same",),
    "R09": (_STATE + "test_r09_what_differs_is_said_and_strict_refuses",),
    "R10": (_STATE + "test_r10_a_compaction_hides_nothing",),
    "R11": (_STATE + "test_r11_killed_while_it_catches_up_the_index_doubles_and_misses_nothing",),
    "R12": (_INDEX + "test_at_any_doubt_the_file_is_read_anew",),
    "R13": (_INDEX + "test_the_same_answers_with_a_new_a_warm_and_no_index",),
    "R14": (_STATE + "test_r14_every_kind_of_state_is_registered",),
    "R15": (
        "agent/turn/test_recorder.py::test_b1_prompt_and_request_are_durable_when_the_request_goes_out",
        _MATRIX,
    ),
    "R16": (
        "agent/turn/test_recorder.py::test_an_answer_is_in_the_file_before_its_calls_are_looked_at",
    ),
    "R17": (
        "agent/turn/test_recorder.py::test_b3_results_are_durable_when_the_next_request_goes_out",
    ),
    "R18": (
        "context/summaries/test_compaction.py::test_the_entry_states_everything_in_force_and_the_files",
        "context/summaries/test_compaction.py::test_provenance_covers_every_entry_that_is_replaced",
    ),
    "R19": (
        _SESSION + "test_a_move_survives_reopening_and_is_the_last_line",
        "session/file/test_session_steps.py::test_reading_anew_gives_what_was_shown",
    ),
    "R20": (
        _STATE + "test_r20_a_rule_of_one_branch_says_nothing_on_another",
        _STATE + "test_r20_asked_and_not_decided_is_not_granted_in_the_next_process",
    ),
    "R21": (_STATE + "test_r01_no_live_object_is_in_a_file",),
    "R22": (
        _MATRIX,
        _RUN + "test_r50_a_second_process_goes_on_with_the_finished_result_and_the_repair",
        "session/health/test_evidence.py::"
        "test_a_process_that_still_runs_is_told_and_one_that_ended_is_not",
    ),
    "R23": (_INDEX + "test_the_same_answers_with_a_new_a_warm_and_no_index",),
    "R24": (_MUTATIONS, "session/health/test_verify.py::test_every_changed_byte_is_found"),
    "R25": (
        _SESSION + "test_an_unknown_target_is_refused_before_anything_is_written",
        "session/file/test_damage.py::test_a_parent_that_stands_later_is_found",
    ),
    "R26": (
        _REPAIR + "test_a_turn_without_an_answer_is_only_closed",
        _REPAIR + "test_whatever_the_end_one_repair_settles_it_and_a_second_finds_nothing",
    ),
    "R27": (_RUN + "test_r27_the_half_answer_is_kept_as_aborted_and_not_sent",),
    "R28": (_STATE + "test_r04_each_change_before_a_request_is_a_new_snapshot_and_says_change",),
    "R29": (
        "context/test_projection.py::test_log_only_entries_change_nothing_wherever_they_stand",
    ),
    "R31": (
        "agent/turn/test_execution.py::test_a_result_names_the_answer_and_the_start_as_its_sources",
        "session/health/test_verify.py::test_a_source_that_does_not_exist_is_named",
        "context/summaries/test_compaction.py::test_provenance_covers_every_entry_that_is_replaced",
    ),
    "R32": (_STATE + "test_r32_each_branch_is_rebuilt_with_its_own_model",),
    "R33": (
        _MATRIX,
        "agent/test_replay.py::test_any_talk_is_rebuilt",
        "agent/test_replay.py::test_an_altered_entry_is_found_by_the_requests_that_held_it",
        _EXAMPLES,
    ),
    "R34": ("session/format/test_codec.py::test_an_entry_comes_back_with_every_member",),
    "R35": (_STATE + "test_r35_no_part_of_an_answer_waits_for_the_disk",),
    "R36": (
        "agent/turn/test_recorder.py::test_b1_prompt_and_request_are_durable_when_the_request_goes_out",
        "agent/turn/test_recorder.py::test_b2_the_start_of_a_tool_is_durable_when_its_body_runs",
        "agent/turn/test_recorder.py::test_b4_the_end_is_durable_when_it_is_told",
    ),
    "R37": (_SESSION + "test_a_session_in_memory_is_like_one_in_a_file",),
    "R38": (
        _MATRIX,
        "e2e/test_cut_anywhere.py::test_r38_cut_at_every_byte_of_a_write_all_before_is_shown"
        "_and_the_next_write_is_sound",
    ),
    "R39": (
        _REPAIR + "test_a_call_without_a_start_was_not_started_and_one_with_a_start_may_have_run",
        _REPAIR + "test_results_come_in_the_order_of_the_transcript_and_finished_ones_stay",
        _MATRIX,
    ),
    "R40": (_RUN + "test_r40_the_header_is_short_even_for_a_long_folder",),
    "R41": (
        "session/exchange/test_fork.py::test_a_fork_at_an_answer_has_its_context_and_names_its_parent",
        "session/exchange/test_fork.py::test_copied_lines_keep_their_bytes",
        "session/exchange/test_lineage.py::test_a_missing_parent_ends_the_line",
    ),
    "R42": (
        "session/exchange/test_fork.py::test_inside_a_step_it_goes_back_to_before_the_message",
        "session/exchange/test_fork.py::test_any_place_of_any_tree_gives_its_context",
    ),
    "R43": ("session/format/test_factcodec.py::test_a_fact_comes_back_through_a_line",),
    "R44": (
        _SESSION + "test_a_newer_version_is_readable_and_never_appended_to",
        _SESSION + "test_a_required_fact_of_a_later_version_forbids_appending",
        "session/format/test_factcodec.py::test_only_newer_or_required_facts_forbid_appending",
    ),
    "R45": (
        "e2e/test_mutations.py::test_damage_refusal_and_a_foreign_append_are_told_apart",
        "session/exchange/test_salvage.py::test_whatever_happened_to_the_lines_the_new_file_is_sound",
    ),
    "R46": (_VIEWS, _STATE + "test_r14_every_kind_of_state_is_registered"),
    "R46b": (
        _RUN + "test_r46b_a_run_is_watched_by_complete_lines_without_a_lock_or_a_write",
        "session/file/test_session_steps.py::test_a_reader_sees_a_growing_prefix_of_whole_entries",
    ),
    "R47": (
        "agent/test_replay.py::"
        "test_the_debug_switch_passes_what_is_in_entries_and_stops_what_is_not",
    ),
    "R48": (
        _FAULTS,
        "e2e/test_disk_faults.py::test_the_withdrawn_prompt_is_no_ghost_for_the_model",
    ),
    "R49": (_STATE + "test_r08_without_any_cache_the_next_request_is_the_same",),
    "R50": (_RUN + "test_r50_a_second_process_goes_on_with_the_finished_result_and_the_repair",),
    "R51": (
        _MUTATIONS,
        "session/file/test_damage.py::test_a_lost_line_is_told_and_its_children_are_a_second_root",
    ),
    "R52": (_MATRIX,),
    "R53": (_MATRIX,),
    "R54": (
        "cli/lookup/test_interrupted.py::test_a_run_says_what_was_cut_off_and_goes_on",
        "cli/lookup/test_interrupted.py::"
        "test_stop_sends_nothing_and_writes_nothing_as_ask_does_with_nobody_there",
    ),
    "R55": (_MATRIX, _EXAMPLES),
    "R56": (
        _MATRIX,
        _REPAIR + "test_of_a_program_that_keeps_no_record_nothing_is_said_to_be_not_started",
    ),
    "R57": (_RUN + "test_r57_a_call_that_was_done_on_another_branch_is_counted_and_said",),
    "R58": (_RUN + "test_r58_a_tool_that_kills_agentsh_in_its_effect_left_its_start_on_record",),
    "R59": (
        _MATRIX,
        _REPAIR + "test_a_call_without_a_start_was_not_started_and_one_with_a_start_may_have_run",
    ),
    "R60": (_RUN + "test_r60_a_tools_own_transaction_is_in_the_trace",),
    "R61": (_REPAIR + "test_the_evidence_of_a_written_file_is_told_in_words",),
    "R63": (
        "e2e/test_two_writers.py::test_r63_two_writers_lose_no_line_and_mix_none",
        "session/file/test_lock.py::test_the_lock_of_a_killed_process_is_free_at_once",
        "session/file/test_session_faults.py::test_a_foreign_append_is_seen_and_nothing_is_written_after_it",
    ),
    "R64": (_RUN + "test_r64_a_long_stream_is_no_more_lines_than_a_short_one",),
    "R65": (_INDEX + "test_only_what_came_in_is_read",),
    "R66": (_INDEX + "test_a_damaged_database_is_made_again",),
    "R67": (
        "session/format/test_lines.py::test_forward_lines_are_what_splitting_at_lf_gives",
        "session/format/test_codec.py::test_line_ends_of_other_rules_stay_inside_a_line",
        "session/file/test_damage.py::test_a_tail_of_nuls_is_torn",
    ),
    "R68": (
        _RUN + "test_r68_neither_key_nor_userinfo_nor_query_reaches_the_disk",
        "session/file/test_log.py::test_file_and_folders_are_private_whatever_the_umask",
    ),
    "R70": (_RUN + "test_r70_killed_inside_a_compaction_compact_works_afterwards",),
    "R71": (
        "agent/test_titler.py::test_a_name_given_meanwhile_drops_the_result",
        "agent/test_titler.py::test_a_result_from_a_place_that_was_left_is_dropped",
    ),
    "R72": (
        "session/file/test_tail.py::test_opening_after_a_compaction_reads_the_end_of_the_file_only",
        "session/file/test_tail.py::test_a_path_is_read_once_and_only_its_lines_are_decoded",
    ),
}

ELSEWHERE: Final[Mapping[str, str]] = {
    "R30": "not built: a result is never shrunk in place, compaction alone changes the context",
    "R62": "a list of what R35 to R37, R44, R45 and R63 to R70 promise",
    "R69": "`sessions archive`, `rm`, `gc`, with the tests of those commands",
}
