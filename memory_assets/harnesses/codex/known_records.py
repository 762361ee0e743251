"""The names of records that the reader of Codex knows, so that a new one is counted as unknown.

The format is an open set: a name that is missing here only adds a line to the doctor's table. The
names are from real files, from descriptions of the harness, and from the lists in its program
(codex-cli 0.169.0).
"""

RECORDS = frozenset(
    """
    inter_agent_communication_metadata turn_context world_state inter_agent_communication
    realtime_item security_risk_score token_usage_record
    """.split()
)

ITEMS = frozenset(
    """
    reasoning compaction compaction_summary context_compaction ghost_snapshot image_generation_call
    other
    """.split()
)

EVENTS = frozenset(
    """
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
    """.split()
)
