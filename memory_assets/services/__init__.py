"""Services: each opens the store for one purpose and wires adapters for the stages that it
calls.
"""
