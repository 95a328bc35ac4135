//! The four pictures of a page: GIF files of exactly the paper's size.
//!
//! Hills under a sky, 200 x 112 pixels in 32 colours. A comment before the end of each file extends it to the
//! paper's size.

/// "Each .gif file will be 5,480 bytes long" (paper 002, Table 12).
pub const IMAGE_BYTES: usize = 5_480;

/// "4 HTTP GETs of .gif files".
pub static IMAGES: [&[u8; IMAGE_BYTES]; 4] =
    [include_bytes!("1.gif"), include_bytes!("2.gif"), include_bytes!("3.gif"), include_bytes!("4.gif")];

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn generated_images_are_unchanged_since_earlier_measurements() {
        let digests = IMAGES.map(|image| {
            Sha256::digest(image).iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        assert_eq!(digests, ["f3d23b78b548fd00", "66ace530a6988a42", "3485a76887bd684e", "6ffa35e3c73269ff"]);
    }
}
