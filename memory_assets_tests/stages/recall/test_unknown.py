"""The questions without an answer are many, each once, and really without one."""

from memory_assets_tests.stages.recall.unknown import unknown_questions


def test_there_are_at_least_150_each_once_and_at_least_50_of_a_grade():
    grades = unknown_questions()
    everything = [question for questions in grades.values() for question in questions]
    assert len(everything) == len(set(everything)) >= 150
    assert min(map(len, grades.values())) >= 50
