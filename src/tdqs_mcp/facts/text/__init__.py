"""What the words of a definition say: sentences, cues and claims in English and ten other languages."""
