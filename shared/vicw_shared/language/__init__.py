"""English, analysed without a network: sentences, words, parts of speech, who depends on whom."""
