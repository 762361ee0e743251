"""The names of records that the readers know, so that a new one is counted as unknown.

The formats are open sets: a name that is missing here only adds a line to the doctor's table. The
names are from real files, from descriptions of the harnesses, and from the lists in the programs
(Claude Code 2.1.330, codex-cli 0.169.0, pi 0.87.1).
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLAUDE_RECORDS = _names("""
    agent-name ai-title bridge-session custom-title file-history-delta file-history-snapshot
    last-prompt mode permission-mode pr-link queue-operation agent-color agent-setting
    attribution-snapshot content-replacement continued-in cost-state progress relocated
    speculation-accept summary tag task-summary worktree-state api-request api-request-blob
    api-request-shape api-request-resumed atis-latch tools-used ended-by-model
    artifact-comment-monitor history-suppression isolation-latch session-owner dev-mods memory-mode
    observer-ref artifact-autoreact-ledger host-row repl-mode data-flow-records
    data-flow-incomplete derived-from resume-head-vouch fork-context-ref frame-link
""")

CLAUDE_SYSTEM = _names("""
    api_error away_summary bridge_status informational local_command stop_hook_summary
    turn_duration agents_killed api_metrics compact_boundary error file_snapshot memory_saved
    microcompact_boundary permission_retry scheduled_task_fire thinking
""")

CLAUDE_ATTACHMENTS = _names("""
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
""")

CODEX_RECORDS = _names("""
    inter_agent_communication_metadata turn_context world_state inter_agent_communication
    realtime_item security_risk_score token_usage_record
""")

CODEX_ITEMS = _names("""
    reasoning compaction compaction_summary context_compaction ghost_snapshot image_generation_call
    other
""")

CODEX_EVENTS = _names("""
    agent_message agent_reasoning collab_agent_interaction_end collab_agent_spawn_end
    collab_close_end collab_waiting_end context_compacted dynamic_tool_call_request
    dynamic_tool_call_response entered_review_mode exec_command_end exited_review_mode
    mcp_tool_call_end patch_apply_end sub_agent_activity task_complete task_started
    thread_name_updated thread_settings_applied token_count turn_aborted user_message
    web_search_end agent_reasoning_raw_content agent_reasoning_section_break background_event
    collab_agent_interaction_begin collab_agent_spawn_begin collab_close_begin collab_resume_begin
    collab_resume_end collab_waiting_begin deprecation_notice error exec_command_begin
    exec_command_output_delta guardian_assessment guardian_warning hook_completed hook_started
    image_generation_begin image_generation_end item_completed item_started mcp_tool_call_begin
    model_reroute model_verification patch_apply_begin plan_delta plan_update session_configured
    shutdown_complete stream_error thread_goal_updated thread_rolled_back turn_complete turn_diff
    turn_started undo_completed undo_started view_image_tool_call warning web_search_begin
""")

PI_ENTRIES = _names("model_change thinking_level_change custom label usage context_edit")
