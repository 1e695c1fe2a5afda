"""English, analysed without a network: sentences, words, parts of speech, times."""
