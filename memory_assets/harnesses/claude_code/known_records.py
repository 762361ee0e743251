"""The names of records that the reader of Claude Code knows: a new one is counted as unknown.

The format is an open set: a name that is missing here only adds a line to the doctor's table. The
names are from real files, from descriptions of the harness, and from the lists in its program
(2.1.330).
"""

RECORDS = frozenset(
    """
    agent-name ai-title bridge-session custom-title file-history-delta file-history-snapshot
    last-prompt mode permission-mode pr-link queue-operation agent-color agent-setting
    attribution-snapshot content-replacement continued-in cost-state progress relocated
    speculation-accept summary tag task-summary worktree-state api-request api-request-blob
    api-request-shape api-request-resumed atis-latch tools-used ended-by-model
    artifact-comment-monitor history-suppression isolation-latch session-owner dev-mods memory-mode
    observer-ref artifact-autoreact-ledger host-row repl-mode data-flow-records
    data-flow-incomplete derived-from resume-head-vouch fork-context-ref frame-link
    """.split()
)

SYSTEM_RECORDS = frozenset(
    """
    api_error away_summary bridge_status informational local_command stop_hook_summary
    turn_duration agents_killed api_metrics compact_boundary error file_snapshot memory_saved
    microcompact_boundary permission_retry scheduled_task_fire thinking
    """.split()
)

ATTACHMENTS = frozenset(
    """
    agent_listing_delta auto_mode auto_mode_exit command_permissions date_change
    deferred_tools_delta diagnostics directory edited_text_file file goal_status
    hook_additional_context hook_cancelled hook_non_blocking_error hook_success hook_system_message
    mcp_instructions_delta opened_file_in_ide plan_mode plan_mode_exit plan_mode_reentry
    queued_command selected_lines_in_ide skill_listing task_reminder ultra_effort_enter
    agent_mention already_read_file async_hook_response budget_usd compact_file_reference
    compaction_reminder companion_intro context_efficiency critical_system_reminder
    current_session_memory dynamic_skill edited_image_file hook_blocking_error
    hook_error_during_execution hook_permission_decision hook_stopped_continuation invoked_skills
    max_turns_reached mcp_resource nested_memory output_style output_token_usage pdf_reference
    plan_file_reference relevant_memories skill_discovery structured_output task_status team_context
    teammate_mailbox todo todo_reminder token_usage ultra_effort_exit verify_plan_reminder date
    deferred_tools_record tool_offer_record prompt_render_point thinking_drop tool_results_cut
    whole_texts_withdrawn environment instructions model prompt_snapshot remote_session_change
    session_context
    """.split()
)
