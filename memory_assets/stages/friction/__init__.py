"""What keeps going wrong across sessions: found over seven days, each with the change that would
end it.
"""
