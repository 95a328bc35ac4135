//! What there is to read. The size of a page is fixed, so the texts are too.

/// A section of the page.
pub(super) struct Section {
    /// As in the database.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

/// In the order of [`people::visitor::SECTIONS`].
pub(super) const SECTIONS: [Section; 10] = [
    Section {
        key: "news",
        title: "News",
        text: "The harbour bridge opens again on Monday, two weeks early. Engineers replaced all of its \
            bearings by night, so that the ferries could keep to their timetable; the mayor will walk \
            across first, with everyone who helped.",
    },
    Section {
        key: "weather",
        title: "Weather",
        text: "Fog in the valleys until ten, then bright and dry with a light wind from the west. Rain \
            reaches the coast on Thursday night and moves inland by the morning; the weekend looks \
            settled, with cool nights.",
    },
    Section {
        key: "markets",
        title: "Markets",
        text: "Shares ended the day little changed. Makers of networking gear rose after two of them \
            raised their outlook, while retailers gave back the gains of last week. Bonds were quiet \
            ahead of the figures on prices.",
    },
    Section {
        key: "sports",
        title: "Sports",
        text: "Three goals in nine minutes turned the cup tie around for the visitors, who had been \
            second best until the break. The return match is on Wednesday; their captain should be fit \
            again by then.",
    },
    Section {
        key: "travel",
        title: "Travel",
        text: "The night train to the lakes is back, with old sleeping cars that were saved from the \
            scrapyard and a kitchen that bakes its own bread. Take the upper berth: the window is at \
            the level of your pillow.",
    },
    Section {
        key: "science",
        title: "Science",
        text: "A bird no heavier than a letter has been followed across an ocean for the first time. \
            It flew for four days without a pause, and slept, as its carriers could tell, for seconds \
            at a time while gliding.",
    },
    Section {
        key: "culture",
        title: "Culture",
        text: "The town museum has hung its whole attic: four hundred pictures nobody had looked at in \
            a century. Visitors vote for those that may stay. So far a portrait of a very cross goose \
            is ahead.",
    },
    Section {
        key: "health",
        title: "Health",
        text: "Walking to work does more good than a gym one never visits, says a study of twelve \
            thousand commuters. The effect begins at a quarter of an hour a day, and it does not \
            matter whether it rains.",
    },
    Section {
        key: "technology",
        title: "Technology",
        text: "Directories that know who is online are moving out of the laboratory: a server on one \
            desk now finds a person among a million faster than the call can be dialled. What is \
            missing is a name that one can remember.",
    },
    Section {
        key: "local",
        title: "Around the corner",
        text: "The baker on the market square closes for August, and leaves the key to the oven with \
            the neighbours. Choir practice has moved to the school hall. The lost tortoise of number \
            nine has been found, on its way to number eleven.",
    },
];

/// Takes up what a page's other parts leave, cut at a space where the page is full. ASCII, so that
/// it can be cut anywhere; tags without spaces, so that none is cut.
pub(super) const ARCHIVE: &str = "When the first timetable was printed, every town still kept a time of its own. Noon was when the \
    sun stood over the town hall, and a traveller who went west by coach never noticed that the day \
    grew longer. The railway noticed. A train that left at eight by the clock of one station arrived \
    too early by the clock of the next, and two trains on one track cannot both be right. So the \
    companies sent their own time along the line, in a locked watch that a guard carried from station \
    to station, and for some years most towns had two clocks: one for the church and one for the \
    platform. People set their watches by the second, and the first was quietly moved. What had been a \
    matter of the sky became a matter of agreement. The same has happened again and again since: with \
    the width of the rails, with the length of the metre, with the names by which one machine finds \
    another. Each time somebody wrote down what everybody was already doing, left out what could not \
    be agreed on, and called it a standard. The best of them are short. They say what goes over the \
    wire and nothing about who is at either end of it, and they are still in use when the machines \
    they were written for have long been melted down. <p>A good directory is a thing of this kind. It \
    began as a book: names on the left, numbers on the right, thick enough in the larger cities to \
    serve as a step for reaching the shelf on which it was kept. It was out of date on the day it was \
    printed, and nobody minded, because people moved about as often as the book did. <p>Then they \
    began to carry the telephone with them. Now the question is no longer where a person lives but \
    where she is just now, and whether she would like to be found. The answer changes every few \
    minutes; a book of it would have to be printed faster than it can be read. What is left of the \
    book is the order in it: one name, one line, and a rule that tells where to look. Ask for it, and \
    the answer comes before the question has quite been put. <p>It is easy to forget how much there is \
    behind a line like that. Somebody has to notice that a person has come, and somebody has to notice \
    that she has left without saying so, which is what people mostly do. An entry that is not renewed \
    fades like a footprint. <p>The page before you is made in much the same way. It knows a name, a \
    town, two colours and what its reader likes to read first, and it is put together anew each time \
    somebody looks, from one line in a book with room for a million of them. Nobody keeps it; when you \
    leave, it is gone, and the line remains. Change a word in it and the next page is another. <p>The \
    gardener of the old observatory kept his book differently. He wrote down on which day the first \
    swallow came, in pencil, every year, and next to it in ink the day on which it should have come \
    according to his father. The two columns run side by side over forty pages. They never agree, and \
    they never part by more than a week, and at the end of the last page there is a note in a third \
    hand: both were right, only the clock was wrong. <p>Further down the valley they tell a story of \
    the man who wound the tower clock for fifty years and never once looked at it. He went by the \
    smell of bread. When the bakery moved across the river, the town was late for a whole winter \
    before anyone thought of asking why. They built him a small window from which he could see the \
    station, and from then on the trains and the bells kept each other company. The window is still \
    there, and so is the chair. On a clear evening one can see from it the lights of eleven villages, \
    and between them, moving slowly, the lamp of the last train, which is on time. ";

/// How a person is greeted, by language.
pub(super) fn welcome(language: &str) -> &'static str {
    match language {
        "de" => "Schön, dass Sie wieder da sind.",
        "fr" => "Heureux de vous revoir.",
        "es" => "Qué alegría verle de nuevo.",
        "it" => "Che piacere rivederla.",
        "ru" => "Рады видеть вас снова.",
        "el" => "Χαιρόμαστε που σας ξαναβλέπουμε.",
        "ja" => "またお会いできてうれしいです。",
        _ => "Good to see you again.",
    }
}

/// The languages one can choose, with their own names.
pub(crate) const LANGUAGES: [(&str, &str); 8] = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("it", "Italiano"),
    ("ru", "Русский"),
    ("el", "Ελληνικά"),
    ("ja", "日本語"),
];
