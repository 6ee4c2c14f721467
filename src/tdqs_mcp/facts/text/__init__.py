"""Facts of the words of a definition: sentences, cues and claims in English and ten other languages."""
