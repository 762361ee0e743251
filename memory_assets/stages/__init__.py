"""The journey from transcripts to MEMORY.md and back into a session: one package for each stage, in
order.

deliver, capture, distill, embed, recall, reflect, friction, triage, brief, maintain. A
stage may import an earlier one.
"""
