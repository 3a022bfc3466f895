//! What an experiment found: figures in tables, plots, and an answer that is computed from them.

/// What an experiment found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// How it was measured, a paragraph each.
    pub setup: Vec<String>,
    /// The figures.
    pub tables: Vec<Table>,
    /// The pictures.
    pub plots: Vec<Plot>,
    /// What was claimed, and whether it held.
    pub claims: Vec<Claim>,
    /// What the figures say, a paragraph each.
    pub answer: Vec<String>,
}

/// A claim, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What is claimed.
    pub text: String,
    /// Whether it held; `None` when it could not be measured here.
    pub held: Option<bool>,
    /// The figures that say so.
    pub figures: String,
}

impl Claim {
    /// A claim that was measured.
    pub fn new(text: impl Into<String>, held: bool, figures: impl Into<String>) -> Self {
        Self { text: text.into(), held: Some(held), figures: figures.into() }
    }

    /// In a word.
    pub fn verdict(&self) -> &'static str {
        match self.held {
            Some(true) => "held",
            Some(false) => "did not hold",
            None => "not measured",
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is.
    pub name: String,
    /// Its unit; empty for a name or a plain number.
    pub unit: String,
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A word.
    Text(String),
    /// A number with so many decimals.
    Number(f64, usize),
    /// Nothing was measured.
    Missing,
}

impl Cell {
    /// As it is read.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::Missing => String::new(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Number(value as f64, 0)
    }
}

impl From<f64> for Cell {
    /// With as many decimals as a figure of its size is worth.
    fn from(value: f64) -> Self {
        let decimals = match value.abs() {
            size if size >= 100.0 => 0,
            size if size >= 10.0 => 1,
            size if size >= 1.0 => 2,
            _ => 3,
        };
        Self::Number(value, decimals)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// Figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Short name, as in the name of its file.
    pub name: String,
    /// What the rows are.
    pub title: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, with a field for each column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows. A column is "name" or "name [unit]".
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        let column = |text: &&str| match text.strip_suffix(']').and_then(|text| text.split_once(" [")) {
            Some((name, unit)) => Column { name: name.into(), unit: unit.into() },
            None => Column { name: (*text).into(), unit: String::new() },
        };
        Self { name: name.into(), title: title.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// It has not a field for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has a field for each column", self.name);
        self.rows.push(cells);
    }
}

/// A row of a table from values of different kinds.
#[macro_export]
macro_rules! cells {
    ($($value:expr),* $(,)?) => { [$($crate::experiment::findings::Cell::from($value)),*] };
}

/// Where a point of a plot lies, with the spread around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across: a value, or the number of a label.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// First and third quartile, if it is a median.
    pub spread: Option<(f64, f64)>,
}

/// The points of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// How series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line with a mark at each point.
    Lines,
    /// A bar for each point, side by side at each label.
    Bars,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Short name, as in the name of its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What is across, with its unit.
    pub across: String,
    /// What is up, with its unit.
    pub up: String,
    /// Labels of the places across; none when it is a scale.
    pub labels: Vec<String>,
    /// How series are drawn.
    pub kind: Kind,
    /// The variants.
    pub series: Vec<Series>,
}

impl Plot {
    /// A plot of lines over labelled places: of each variant a value for each label, from left to right.
    pub fn lines(name: &str, title: &str, across: &str, up: &str, labels: impl IntoIterator<Item = String>) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            across: across.into(),
            up: up.into(),
            labels: labels.into_iter().collect(),
            kind: Kind::Lines,
            series: Vec::new(),
        }
    }

    /// The same with bars.
    pub fn bars(name: &str, title: &str, across: &str, up: &str, labels: impl IntoIterator<Item = String>) -> Self {
        Self { kind: Kind::Bars, ..Self::lines(name, title, across, up, labels) }
    }

    /// A plot of lines over a scale.
    pub fn scale(name: &str, title: &str, across: &str, up: &str) -> Self {
        Self::lines(name, title, across, up, [])
    }

    /// Adds a variant with a value at each label; a place without one stays empty.
    pub fn series(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) {
        let point = |(place, value): (usize, Option<f64>)| Some(Point { x: place as f64, y: value?, spread: None });
        let points = values.into_iter().enumerate().filter_map(point).collect();
        self.series.push(Series { name: name.into(), points });
    }
}
