//! Hills under a sky: what the pictures show.

/// Width in pixels.
pub(super) const WIDTH: u16 = 200;
/// Height in pixels.
pub(super) const HEIGHT: u16 = 112;
/// Colours of a picture.
pub(super) const COLOURS: usize = 32;

/// Colours of these: sky, sun, hills from far to near.
const SKY: usize = 20;
const SUN: u8 = SKY as u8;
const HILLS: usize = COLOURS - SKY - 1;
const RIDGES: usize = 4;

type Rgb = [u8; 3];

/// A picture before it is a file.
pub(super) struct Scene {
    pub(super) palette: [Rgb; COLOURS],
    pub(super) pixels: Vec<u8>,
}

/// The mood of a picture.
struct Mood {
    top: Rgb,
    horizon: Rgb,
    sun: Rgb,
    far: Rgb,
    near: Rgb,
    sun_at: (i32, i32),
    /// Where the ridges begin in their waves.
    phase: i32,
}

const MOODS: [Mood; super::IMAGES] = [
    Mood {
        top: [58, 96, 150],
        horizon: [250, 214, 165],
        sun: [255, 246, 214],
        far: [150, 150, 176],
        near: [38, 52, 74],
        sun_at: (140, 46),
        phase: 0,
    },
    Mood {
        top: [112, 178, 224],
        horizon: [232, 244, 250],
        sun: [255, 255, 240],
        far: [142, 190, 170],
        near: [34, 92, 62],
        sun_at: (48, 26),
        phase: 71,
    },
    Mood {
        top: [74, 38, 92],
        horizon: [248, 150, 104],
        sun: [255, 222, 150],
        far: [158, 86, 110],
        near: [44, 22, 52],
        sun_at: (100, 56),
        phase: 133,
    },
    Mood {
        top: [16, 24, 54],
        horizon: [92, 122, 168],
        sun: [240, 244, 255],
        far: [66, 88, 128],
        near: [10, 16, 34],
        sun_at: (160, 22),
        phase: 190,
    },
];

/// Scene `n`; those beyond the last begin again.
pub(super) fn draw(n: usize) -> Scene {
    let mood = &MOODS[n % MOODS.len()];
    let palette = palette(mood);
    let (width, height) = (i32::from(WIDTH), i32::from(HEIGHT));
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| pixel(mood, x, y))).collect();
    Scene { palette, pixels }
}

fn palette(mood: &Mood) -> [Rgb; COLOURS] {
    std::array::from_fn(|n| match n {
        n if n < SKY => mix(mood.top, mood.horizon, n, SKY - 1),
        n if n == SKY => mood.sun,
        n => mix(mood.far, mood.near, n - SKY - 1, HILLS - 1),
    })
}

fn mix(from: Rgb, to: Rgb, part: usize, whole: usize) -> Rgb {
    std::array::from_fn(|n| {
        let (from, to) = (usize::from(from[n]), usize::from(to[n]));
        ((from * (whole - part) + to * part) / whole) as u8
    })
}

fn pixel(mood: &Mood, x: i32, y: i32) -> u8 {
    // The nearest hill that reaches up to here hides what is behind it.
    for ridge in (0..RIDGES).rev() {
        let depth = y - crest(mood, ridge as i32, x);
        if depth >= 0 {
            let shade = (ridge * (HILLS - 3) / (RIDGES - 1)) as i32 + (depth / 9).min(2);
            return SUN + 1 + shade.min(HILLS as i32 - 1) as u8;
        }
    }
    let (dx, dy) = (x - mood.sun_at.0, y - mood.sun_at.1);
    if dx * dx + dy * dy <= 121 {
        return SUN;
    }
    (y * SKY as i32 / i32::from(HEIGHT)).min(SKY as i32 - 1) as u8
}

/// How far down the crest of a ridge lies.
fn crest(mood: &Mood, ridge: i32, x: i32) -> i32 {
    let at = x + mood.phase + ridge * 57;
    let height = wave(at, 96) * 13 + wave(at * 3 + 40, 131) * 5 + wave(at * 7, 83) * (4 - ridge);
    54 + ridge * 13 - height / 256
}

/// A smooth wave between -256 and 256: two parabolas a period, which no two machines round
/// differently.
fn wave(at: i32, period: i32) -> i32 {
    let half = period / 2;
    let place = at.rem_euclid(half * 2);
    let (place, sign) = if place < half { (place, 1) } else { (place - half, -1) };
    sign * place * (half - place) * 1_024 / (half * half)
}
