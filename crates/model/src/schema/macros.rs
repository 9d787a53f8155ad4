// SPDX-License-Identifier: Apache-2.0
//! How keys and words are declared.

/// Declares the keys of a table, as in
///
/// ```text
/// /// How many there are of it: here bpf 0, 1 and 2.
/// count = 3 => count: placed u32, whole(1, 4096), default 1;
/// ```
///
/// A key with an example, the field with how it is read (see below) and its type, what it takes,
/// and its default: `default` a literal, or `otherwise` in words. `only` names the kernels that
/// know it, where others refuse it; `heeded`, where others ignore it. Behind the keys:
/// `..part: Keys;` for keys that several tables have, `place here;` for the place of the table,
/// `places all;` for those of its values, `check it;` for a method that notes what is wrong
/// between them.
///
/// | how | the field has |
/// |---|---|
/// | `must` | the value and its place; it must be there |
/// | `optional` | the same, or nothing |
/// | `placed` | the value, or the default, at the place of the name |
/// | `or` | the value, or the default |
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $(#[derive($derive:ident)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $says:literal])+
                $key:ident = $example:tt => $field:ident: $how:ident $type:ty, $shape:expr
                $(, default $default:literal)? $(, otherwise $otherwise:literal)?
                $(, only $only:literal)? $(, heeded $heeded:literal)?;
            )*
            $(..$part:ident: $part_type:ident;)*
            $(place $place:ident;)?
            $(places $places:ident;)?
            $(check $check:ident;)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone $(, $derive)?)]
        #[allow(dead_code, reason = "some keys are for people alone, as descriptions and sources")]
        $vis struct $name {
            $($(#[doc = $says])+ pub(crate) $field: $crate::schema::table!(@type $how $type),)*
            $(pub(crate) $part: $part_type,)*
            $(pub(crate) $place: $crate::problem::Span,)?
            $(pub(crate) $places: std::collections::BTreeMap<String, $crate::problem::Span>,)?
        }

        impl $name {
            /// Its keys.
            pub(crate) const TABLE: $crate::schema::Table = $crate::schema::Table {
                keys: &[$($crate::schema::Key {
                    name: stringify!($key),
                    says: concat!($($says),+),
                    shape: $shape,
                    needed: $crate::schema::table!(@needed $how),
                    default: $crate::schema::table!(@text $($default)?),
                    otherwise: $crate::schema::table!(@words $($otherwise)?),
                    only: $crate::schema::table!(@only $($only)? $(, $heeded)?),
                    example: stringify!($example),
                }),*],
                parts: &[$(&$part_type::TABLE),*],
            };

            /// Reads its keys, in their order.
            fn take(reader: &mut $crate::schema::TableReader<'_, '_, '_>) -> Option<Self> {
                $(let $field = $crate::schema::table!(@take reader $how $type, $($default)?);)*
                $(let $part = reader.part(&$part_type::TABLE, $part_type::take);)*
                Some(Self {
                    $($field: $crate::schema::table!(@value $how $field),)*
                    $($part: $part?,)*
                    $($place: reader.place.clone(),)?
                    $($places: reader.places(),)?
                })
            }
        }

        impl $crate::schema::Tabular for $name {
            fn tried(
                node: &$crate::reader::Node<'_>,
                noted: &mut $crate::schema::Noted<'_>,
            ) -> Option<$crate::schema::Tried<Self>> {
                let (table, place) = (node.get_ref().as_table()?, node.span());
                let mut reader =
                    $crate::schema::TableReader::new(&Self::TABLE, table, place, noted);
                let read = Self::take(&mut reader);
                let is_right = reader.finish();
                $(if let Some(read) = &read {
                    read.$check(noted);
                })?
                Some($crate::schema::Tried { read, is_right })
            }
        }

        impl $crate::schema::Read for $name {
            fn read(
                _: &$crate::schema::Shape,
                node: &$crate::reader::Node<'_>,
                noted: &mut $crate::schema::Noted<'_>,
            ) -> Option<Self> {
                let tried = <Self as $crate::schema::Tabular>::tried(node, noted)?;
                tried.read.filter(|_| tried.is_right)
            }
        }
    };

    (@type must $type:ty) => { toml::Spanned<$type> };
    (@type optional $type:ty) => { Option<toml::Spanned<$type>> };
    (@type placed $type:ty) => { toml::Spanned<$type> };
    (@type or $type:ty) => { $type };
    (@needed must) => { true };
    (@needed $how:ident) => { false };
    (@text $default:literal) => { Some(stringify!($default)) };
    (@text) => { None };
    (@only $kernels:literal) => { Some($crate::schema::Only::Known($kernels)) };
    (@only , $kernels:literal) => { Some($crate::schema::Only::Heeded($kernels)) };
    (@only) => { None };
    (@words $words:literal) => { Some($words) };
    (@words) => { None };
    (@take $reader:ident must $type:ty, ) => { $reader.must::<$type>() };
    (@take $reader:ident optional $type:ty, $($default:literal)?) => {
        $reader.optional::<$type>()
    };
    (@take $reader:ident placed $type:ty, $($default:literal)?) => {
        $reader.placed::<$type>($crate::schema::table!(@default $type, $($default)?))
    };
    (@take $reader:ident or $type:ty, $($default:literal)?) => {{
        let value = $reader.optional::<$type>().map(toml::Spanned::into_inner);
        value.unwrap_or_else(|| $crate::schema::table!(@default $type, $($default)?))
    }};
    (@value must $field:ident) => { $field? };
    (@value $how:ident $field:ident) => { $field };
    (@default $type:ty, $default:literal) => {
        <$type as $crate::schema::Standing>::standing($default.into())
    };
    (@default $type:ty, ) => { <$type>::default() };
}

/// Declares an enumeration whose values are words: in files, in plans, in C, and for people.
///
/// ```text
/// pub enum Mode {
///     /// Its memory is globally visible.
///     #[default]
///     Handoff = "handoff", "WB_HANDOFF";
/// }
/// ```
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of_word:meta])* $variant:ident = $word:literal $(, $constant:literal)?;)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[$of_word])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word, in the order of C's constants.
            pub const WORDS: &[&str] = &[$($word),+];

            /// What it is called in files and messages.
            pub fn word(self) -> &'static str {
                Self::WORDS[self as usize]
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl $crate::schema::Read for $name {
            fn read(
                _: &$crate::schema::Shape,
                node: &$crate::reader::Node<'_>,
                _: &mut $crate::schema::Noted<'_>,
            ) -> Option<Self> {
                $crate::reader::word(node)
            }
        }

        $crate::schema::words!(@constants $name $($variant $word $($constant)?,)+);
    };

    (@constants $name:ident $($variant:ident $word:literal $constant:literal,)+) => {
        impl $crate::in_c::InC for $name {
            const KIND: $crate::in_c::Kind =
                $crate::in_c::Kind::Word(stringify!($name), &[$(($word, $constant)),+]);

            fn initialiser(&self, _: &mut $crate::in_c::Tables, _: &str) -> Option<String> {
                let constants = [$($constant),+];
                (*self as usize > 0).then(|| constants[*self as usize].to_owned())
            }
        }
    };
    (@constants $name:ident $($variant:ident $word:literal,)+) => {};
}

pub(crate) use {table, words};
