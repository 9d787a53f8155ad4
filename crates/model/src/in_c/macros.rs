// SPDX-License-Identifier: Apache-2.0
//! How members are declared.

/// Declares the members of an object of the plan, as in
///
/// ```text
/// /// Larger is more urgent.
/// maybe priority: u32, "config.priority", most "31";
/// ```
///
/// The field, its type, its place in the struct of C if that has another name, and the most that it
/// may be. `json` gives it another name in JSON.
///
/// | how | it is |
/// |---|---|
/// | `needed` | always there |
/// | `always` | written always, and may be left out by others |
/// | `maybe` | left out where it is 0, false or nothing |
/// | `flat` | an object whose members are its own |
/// | `aside` | no member: it is not written |
macro_rules! members {
    (
        $(#[doc = $about:literal])+ $(#[derive($($derive:ident),+)])? $(#[serde($($serde:tt)+)])?
        pub struct $name:ident: $tag:literal $(pointed $pointed:literal)? { $($body:tt)+ }
    ) => { $crate::in_c::members! {
        @all [$($about),+]
        [$(#[doc = $about])+ $(#[derive($($derive),+)])? $(#[serde($($serde)+)])?]
        $name $tag [$($pointed)?] [] "" $($body)+
    } };
    (
        $(#[doc = $about:literal])+ $(#[derive($($derive:ident),+)])? $(#[serde($($serde:tt)+)])?
        pub struct $name:ident: $tag:literal as $parsed:literal at $within:literal { $($body:tt)+ }
    ) => { $crate::in_c::members! {
        @all [$($about),+]
        [$(#[doc = $about])+ $(#[derive($($derive),+)])? $(#[serde($($serde)+)])?]
        $name $tag [] [$parsed] $within $($body)+
    } };
    (
        @all [$($about:literal),+] $attributes:tt
        $name:ident $tag:literal [$($pointed:literal)?] [$($parsed:literal)?] $within:literal
        $(
            $(#[doc = $says:literal])+
            $how:ident $field:ident: $type:ty $(, $path:literal)?
            $(, most $most:literal)? $(, json $json:literal)?;
        )+
    ) => { $crate::in_c::members! {
        @struct $attributes $name {}
        $($how [$(#[doc = $says])+ $(#[serde(rename = $json)])?] $field: $type;)+
    }

    impl $name {
        /// Its members.
        pub(crate) const OBJECT: $crate::in_c::Object = $crate::in_c::Object {
            name: stringify!($name),
            says: concat!($($about),+),
            tag: $tag,
            parsed: $crate::in_c::members!(@some $($parsed)?),
            within: $within,
            is_pointed_to: $crate::in_c::members!(@is $($pointed)?),
            members: &$crate::in_c::members!(@list [] $(
                $how {
                    name: $crate::in_c::members!(@first $($json)? [stringify!($field)]),
                    says: concat!($($says),+),
                    path: $crate::in_c::members!(
                        @first $($path)? [concat!($within, stringify!($field))]
                    ),
                    most: $crate::in_c::members!(@some $($most)?),
                } $type;
            )+),
        };
    }

    impl $crate::in_c::InC for $name {
        const KIND: $crate::in_c::Kind = $crate::in_c::Kind::Object(&Self::OBJECT);
        const TYPE: &'static str = concat!("struct ", $tag);

        fn initialiser(&self, tables: &mut $crate::in_c::Tables, name: &str) -> Option<String> {
            let mut fields = Vec::new();
            self.fields(tables, name, "", &mut fields);
            tables.object(&Self::OBJECT, name, &fields)
        }

        fn fields(
            &self,
            tables: &mut $crate::in_c::Tables,
            name: &str,
            path: &str,
            to: &mut Vec<String>,
        ) {
            if !path.is_empty() {
                to.extend(self.initialiser(tables, name).map(|value| format!(".{path} = {value}")));
                return;
            }
            $($crate::in_c::members!(@fields self tables name to $how $field [
                $crate::in_c::members!(@first $($path)? [concat!($within, stringify!($field))])
            ] [$within]);)+
        }
    } };

    (@struct [$($attributes:tt)+] $name:ident { $($done:tt)* }) => {
        $($attributes)+
        #[derive(Debug, Clone, serde::Serialize)]
        pub struct $name { $($done)* }
    };
    (@struct $a:tt $name:ident { $($done:tt)* }
        maybe [$($of:tt)+] $field:ident: $type:ty; $($rest:tt)*) => { $crate::in_c::members! {
        @struct $a $name { $($done)*
            $($of)+ #[serde(skip_serializing_if = "crate::in_c::is_default")] pub $field: $type, }
        $($rest)*
    } };
    (@struct $a:tt $name:ident { $($done:tt)* }
        flat [$($of:tt)+] $field:ident: $type:ty; $($rest:tt)*) => { $crate::in_c::members! {
        @struct $a $name { $($done)* $($of)+ #[serde(flatten)] pub $field: $type, } $($rest)*
    } };
    (@struct $a:tt $name:ident { $($done:tt)* }
        aside [$($of:tt)+] $field:ident: $type:ty; $($rest:tt)*) => { $crate::in_c::members! {
        @struct $a $name { $($done)* $($of)+ #[serde(skip)] pub $field: $type, } $($rest)*
    } };
    (@struct $a:tt $name:ident { $($done:tt)* }
        $how:ident [$($of:tt)+] $field:ident: $type:ty; $($rest:tt)*) => { $crate::in_c::members! {
        @struct $a $name { $($done)* $($of)+ pub $field: $type, } $($rest)*
    } };

    (@list [$($done:tt)*]) => { [$($done)*] };
    (@list [$($done:tt)*] aside { $($of:tt)+ } $type:ty; $($rest:tt)*) => {
        $crate::in_c::members!(@list [$($done)*] $($rest)*)
    };
    (@list [$($done:tt)*] flat { $($of:tt)+ } $type:ty; $($rest:tt)*) => {
        $crate::in_c::members!(@list [$($done)* $crate::in_c::Member {
            $($of)+ needed: false, kind: $crate::in_c::Kind::Flat(&<$type>::OBJECT),
        },] $($rest)*)
    };
    (@list [$($done:tt)*] $how:ident { $($of:tt)+ } $type:ty; $($rest:tt)*) => {
        $crate::in_c::members!(@list [$($done)* $crate::in_c::Member {
            $($of)+
            needed: $crate::in_c::members!(@needed $how),
            kind: <$type as $crate::in_c::InC>::KIND,
        },] $($rest)*)
    };

    (@fields $s:ident $c:ident $name:ident $to:ident aside $f:ident [$p:expr] [$w:expr]) => {};
    (@fields $s:ident $c:ident $name:ident $to:ident flat $f:ident [$p:expr] [$w:expr]) => {
        $s.$f.fields($c, $name, "", $to);
    };
    (@fields $s:ident $c:ident $name:ident $to:ident $h:ident $f:ident [$p:expr] [$w:expr]) => {
        if let Some(path) = $p.strip_prefix($w) {
            let name = format!("{}_{}", $name, stringify!($f));
            $crate::in_c::InC::fields(&$s.$f, $c, &name, path, $to);
        }
    };
    (@needed needed) => { true };
    (@needed $how:ident) => { false };
    (@some $some:literal) => { Some($some) };
    (@some) => { None };
    (@is $some:literal) => { true };
    (@is) => { false };
    (@first $first:literal [$otherwise:expr]) => { $first };
    (@first [$otherwise:expr]) => { $otherwise };
}

pub(crate) use members;
