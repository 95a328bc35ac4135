//! The four pictures of a page: drawn once at the start, GIF files of exactly the paper's size.

mod gif;
mod lzw;
mod scene;

/// "Each .gif file will be 5,480 bytes long" (paper 002, Table 12).
pub const IMAGE_BYTES: usize = 5_480;
/// "4 HTTP GETs of .gif files".
pub const IMAGES: usize = 4;

/// Picture `n`, from 0.
pub fn image(n: usize) -> Vec<u8> {
    let scene = scene::draw(n);
    let mut file = gif::encode(&scene);
    gif::lengthen(&mut file, IMAGE_BYTES);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_their_size_and_differ() {
        let images: Vec<Vec<u8>> = (0..IMAGES).map(image).collect();
        for (n, image) in images.iter().enumerate() {
            assert_eq!(image.len(), IMAGE_BYTES, "picture {n}");
            assert!(!images[..n].contains(image));
        }
    }
}
