//! Initial contents for walks down a suffix tree: a random text, its tree, and reads of it.
//!
//! Models: the tree of all suffixes of a text, with suffix links (Weiner, 1973), as a table of
//! nodes; reads with errors, as a sequencer makes them.
//! Does not model: the building of a tree in linear time. The suffixes are inserted one by one,
//! which takes time in proportion to how deep the tree is: a random text's has some log(letters)
//! levels.

use super::generator::SplitMix64;

/// Letters of the alphabet: 0, 1, 2, 3.
const ALPHABET: u64 = 4;
/// Words of a node: children by the first letter of their labels (0: none), where in the text the
/// node's label starts, how long it is, the suffix link, and how many letters lead to the node.
const NODE: usize = 8;
const START: usize = 4;
const LENGTH: usize = 5;
const LINK: usize = 6;
const DEPTH: usize = 7;
/// The suffix link of a leaf.
const NONE: u32 = u32::MAX;
/// Of so many letters of a read one is replaced by a random one, on average.
const LETTERS_PER_ERROR: u64 = 16;

/// Words of the tree of a text: room for two nodes for each letter, which is enough.
pub(super) const fn tree_words(letters: u32) -> u64 {
    2 * NODE as u64 * letters as u64
}

/// A random text over four letters: what generator `integers` from 0 to 3 makes of the seed.
pub(super) fn random_text(letters: u32, seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    (0..letters).map(|_| random.below(ALPHABET) as u8).collect()
}

/// `count` letters of reads of a text, `each` letters long: they start anywhere, go on at the
/// text's start when they reach its end, and have errors. `seed` may be the text's.
///
/// `each` and the text are not empty.
pub(super) fn reads(count: u64, each: u32, text: &[u8], seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(!seed);
    let mut at = 0;
    (0..count)
        .map(|place| {
            if place % u64::from(each) == 0 {
                at = random.below(text.len() as u64) as usize;
            }
            let letter = text[at % text.len()];
            at += 1;
            if random.below(LETTERS_PER_ERROR) == 0 { random.below(ALPHABET) as u8 } else { letter }
        })
        .collect()
}

/// The table of nodes of a text's suffix tree, the root first; the rest of its [`tree_words`] is
/// zero. A suffix that also stands elsewhere in the text ends within the tree, without a leaf.
///
/// `text` has letters below four, and below 2^31 of them.
pub(super) fn suffix_tree(text: &[u8]) -> Vec<u32> {
    let mut tree = Tree { text, words: vec![0; tree_words(text.len() as u32) as usize], nodes: 1 };
    for suffix in 0..text.len() {
        tree.insert(suffix);
    }
    tree.link();
    tree.words
}

struct Tree<'a> {
    text: &'a [u8],
    words: Vec<u32>,
    nodes: usize,
}

impl Tree<'_> {
    fn word(&self, node: usize, word: usize) -> usize {
        self.words[node * NODE + word] as usize
    }

    fn set(&mut self, node: usize, word: usize, value: usize) {
        self.words[node * NODE + word] = value as u32;
    }

    /// A new child of `parent` with the label `start..end`; it takes the place of any other.
    fn add(&mut self, parent: usize, start: usize, end: usize) -> usize {
        let child = self.nodes;
        self.nodes += 1;
        self.set(parent, usize::from(self.text[start]), child);
        self.set(child, START, start);
        self.set(child, LENGTH, end - start);
        self.set(child, DEPTH, self.word(parent, DEPTH) + end - start);
        child
    }

    fn add_leaf(&mut self, parent: usize, start: usize) {
        let leaf = self.add(parent, start, self.text.len());
        self.set(leaf, LINK, NONE as usize);
    }

    /// Walks down as far as the suffix matches; what is left becomes a leaf, if anything is.
    fn insert(&mut self, suffix: usize) {
        let text = self.text;
        let (mut node, mut at) = (0, suffix);
        while let Some(&letter) = text.get(at) {
            let child = self.word(node, usize::from(letter));
            if child == 0 {
                return self.add_leaf(node, at);
            }
            let (start, length) = (self.word(child, START), self.word(child, LENGTH));
            let label = &text[start..start + length];
            let common = label.iter().zip(&text[at..]).take_while(|(a, b)| a == b).count();
            if common == length {
                (node, at) = (child, at + length);
                continue;
            }
            if at + common == text.len() {
                return;
            }
            let middle = self.add(node, start, start + common);
            self.set(middle, usize::from(text[start + common]), child);
            self.set(child, START, start + common);
            self.set(child, LENGTH, length - common);
            return self.add_leaf(middle, at + common);
        }
    }

    /// Links each node that branches to the one whose letters are its own without the first.
    fn link(&mut self) {
        for node in 1..self.nodes {
            if self.word(node, LINK) == NONE as usize {
                continue;
            }
            let end = self.word(node, START) + self.word(node, LENGTH);
            let mut at = end - self.word(node, DEPTH) + 1;
            let mut to = 0;
            // Two suffixes part at `node`, so two that start one letter later part at its link.
            while at < end {
                to = self.word(to, usize::from(self.text[at]));
                at += self.word(to, LENGTH);
            }
            self.set(node, LINK, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters that lead to a node.
    fn path<'a>(tree: &[u32], text: &'a [u8], node: usize) -> &'a [u8] {
        let word = |word| tree[node * NODE + word] as usize;
        let end = word(START) + word(LENGTH);
        &text[end - word(DEPTH)..end]
    }

    /// Whether a walk from the root along these letters does not leave the tree.
    fn contains(tree: &[u32], text: &[u8], letters: &[u8]) -> bool {
        let (mut node, mut at) = (0, 0);
        while at < letters.len() {
            node = tree[node * NODE + usize::from(letters[at])] as usize;
            if node == 0 {
                return false;
            }
            let start = tree[node * NODE + START] as usize;
            let label = &text[start..start + tree[node * NODE + LENGTH] as usize];
            let shown = label.len().min(letters.len() - at);
            if label[..shown] != letters[at..at + shown] {
                return false;
            }
            at += shown;
        }
        true
    }

    fn texts() -> Vec<Vec<u8>> {
        let mut texts: Vec<Vec<u8>> =
            (1..40).map(|letters| random_text(letters, u64::from(letters))).collect();
        texts.extend([random_text(700, 5), vec![2; 30], [0, 1].repeat(15), [3, 3, 0].repeat(9)]);
        texts
    }

    #[test]
    fn a_tree_has_exactly_the_strings_of_its_text() {
        for text in texts() {
            let tree = suffix_tree(&text);
            assert_eq!(tree.len() as u64, tree_words(text.len() as u32));
            for start in 0..text.len() {
                assert!(contains(&tree, &text, &text[start..]), "{text:?} from {start}");
            }
            let mut random = SplitMix64::new(text.len() as u64);
            for length in (1..9).cycle().take(400) {
                let letters: Vec<u8> = (0..length).map(|_| random.below(4) as u8).collect();
                let expected = text.windows(length).any(|part| part == letters);
                assert_eq!(contains(&tree, &text, &letters), expected, "{letters:?} in {text:?}");
            }
        }
    }

    #[test]
    fn nodes_branch_and_link_to_the_rest_of_their_letters() {
        for text in texts() {
            let tree = suffix_tree(&text);
            let used = tree.chunks_exact(NODE).skip(1).take_while(|node| node[LENGTH] > 0).count();
            assert!(tree[(used + 1) * NODE..].iter().all(|&word| word == 0), "{text:?}");
            assert_eq!((tree[START], tree[LENGTH], tree[LINK], tree[DEPTH]), (0, 0, 0, 0));
            for node in 1..=used {
                let words = &tree[node * NODE..][..NODE];
                let children = words[..4].iter().filter(|&&child| child != 0).count();
                if words[LINK] == NONE {
                    assert_eq!(children, 0, "{text:?}");
                    assert!(text.ends_with(path(&tree, &text, node)), "{text:?}");
                } else {
                    assert!(children >= 2, "{text:?}");
                    let link = path(&tree, &text, words[LINK] as usize);
                    assert_eq!(link, &path(&tree, &text, node)[1..], "{text:?}");
                }
            }
        }
    }

    #[test]
    fn reads_are_of_the_text_but_for_their_errors() {
        let text = random_text(500, 9);
        let reads = reads(4005, 40, &text, 9);
        assert_eq!(reads.len(), 4005);
        let twice = [&text[..], &text].concat();
        let mut errors = 0;
        for read in reads.chunks(40) {
            let differ = |part: &[u8]| part.iter().zip(read).filter(|(a, b)| a != b).count();
            errors += twice.windows(read.len()).map(differ).min().expect("a place");
        }
        // Three of four random letters are others.
        assert!((100..300).contains(&errors), "{errors} of 4005 letters differ");
    }

    /// Recorded results depend on them. Letters were also drawn, and nodes counted, apart from this
    /// program: a string that the text goes on from in two ways is a node, and one that it does not
    /// go on from is a leaf.
    #[test]
    fn contents_are_the_same_in_every_version() {
        let text = random_text(12, 1);
        assert_eq!(text, [2, 2, 3, 1, 1, 3, 3, 2, 1, 3, 1, 2]);
        assert_eq!(reads(12, 5, &text, 1), [2, 2, 2, 3, 1, 1, 2, 2, 2, 3, 3, 1]);
        let tree = suffix_tree(&text);
        assert_eq!(tree[..NODE], ROOT);
        let nodes = tree.chunks_exact(NODE).filter(|node| node[LENGTH] > 0).count() + 1;
        assert_eq!(nodes, 17);
    }

    const ROOT: [u32; NODE] = [0, 6, 2, 8, 0, 0, 0, 0];
}
