//! A picture as a file (GIF89a).

use super::lzw;
use super::scene::{COLOURS, HEIGHT, Scene, WIDTH};

/// Bits of a pixel.
const DEPTH: u8 = COLOURS.ilog2() as u8;
const TRAILER: u8 = 0x3b;
const EXTENSION: u8 = 0x21;
const COMMENT: u8 = 0xfe;

/// What the comment says, over and over.
const WORDS: &[u8] = b"A picture of a place that is not there, drawn for a page that is. ";

/// The file, as short as it gets.
pub(super) fn encode(scene: &Scene) -> Vec<u8> {
    let mut file = b"GIF89a".to_vec();
    let size = [WIDTH.to_le_bytes(), HEIGHT.to_le_bytes()].concat();
    // Logical screen: a global colour table of COLOURS entries, eight bits a channel.
    file.extend_from_slice(&size);
    file.extend_from_slice(&[0xf0 | (DEPTH - 1), 0, 0]);
    scene.palette.iter().for_each(|colour| file.extend_from_slice(colour));
    file.extend_from_slice(&[0x2c, 0, 0, 0, 0]);
    file.extend_from_slice(&size);
    file.extend_from_slice(&[0, DEPTH]);
    for block in lzw::compress(&scene.pixels, DEPTH).chunks(255) {
        file.push(block.len() as u8);
        file.extend_from_slice(block);
    }
    file.extend_from_slice(&[0, TRAILER]);
    file
}

/// Makes the file `size` bytes long by a comment before its end. A file that is less than three or
/// just four bytes too short, or too long, cannot be; a test holds the scenes to that.
pub(super) fn lengthen(file: &mut Vec<u8>, size: usize) {
    let Some(missing) = size.checked_sub(file.len() + 3) else { return };
    file.pop();
    file.extend_from_slice(&[EXTENSION, COMMENT]);
    let mut words = WORDS.iter().cycle();
    let mut left = missing;
    while left > 0 {
        // A block is a length and that many bytes, at least one: none may be left alone.
        let block = if left == 257 { 128 } else { left.min(256) };
        let data = block - 1;
        file.push(data as u8);
        file.extend(words.by_ref().take(data));
        left -= block;
    }
    file.extend_from_slice(&[0, TRAILER]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks the blocks of a file and returns how many comment bytes it has.
    fn comment_bytes(file: &[u8]) -> usize {
        assert_eq!(&file[..6], b"GIF89a");
        let mut at = 13 + 3 * COLOURS;
        let mut comment = 0;
        loop {
            let (is_comment, data) = match file[at] {
                EXTENSION => (file[at + 1] == COMMENT, at + 2),
                0x2c => (false, at + 11),
                TRAILER => {
                    assert_eq!(at + 1, file.len(), "nothing follows the trailer");
                    return comment;
                }
                other => panic!("a block of kind {other:#x}"),
            };
            at = data;
            while file[at] != 0 {
                comment += if is_comment { usize::from(file[at]) } else { 0 };
                at += 1 + usize::from(file[at]);
            }
            at += 1;
        }
    }

    #[test]
    fn a_file_can_be_given_every_greater_length() {
        let short = encode(&super::super::scene::draw(0));
        assert_eq!(comment_bytes(&short), 0);
        for more in (3..3_000).filter(|&more| more != 4) {
            let mut file = short.clone();
            lengthen(&mut file, short.len() + more);
            assert_eq!(file.len(), short.len() + more);
            comment_bytes(&file);
        }
    }
}
