"""Offline analysis of English: sentences, words, parts of speech, time expressions."""
