//! [`KindLexer`]: a lexer that gives variants of an enum.

use super::{KindList, TokenKind, rules_of};
use crate::Device;
use crate::Error as ScanError;
use crate::lexer::{
    Kind, KindNumber, Lexer, LexerError, LexerStream, PlaceNumber, Streamed, TokenColumnsOf, TokenList,
};

/// A [`Lexer`] whose kinds are the variants of an enum; [`TokenKind`] has an example.
#[derive(Debug)]
pub struct KindLexer<K> {
    lexer: Lexer,
    kinds: Kinds<K>,
}

/// The kind of each rule.
#[derive(Clone, Debug)]
struct Kinds<K>(Box<[K]>);

impl<K: TokenKind> Kinds<K> {
    fn of(&self, kind: Kind) -> K {
        match kind {
            Kind::Rule(rule) => self.of_number(rule),
            Kind::Error => K::ERROR,
        }
    }

    /// The kind that is a number in a column.
    fn of_number(&self, number: u16) -> K {
        self.0.get(usize::from(number)).copied().unwrap_or(K::ERROR)
    }
}

impl<K: TokenKind> KindLexer<K> {
    /// Compiles the rules of the enum.
    ///
    /// # Errors
    /// [`LexerError::Rules`] with all faults of the rules; those of [`Lexer::new`], of which [`LexerError::Shadowed`] is one where
    /// [`TokenKind::STRICT_TIES`] asks for it.
    pub fn new() -> Result<KindLexer<K>, LexerError> {
        Ok(KindLexer::of(Lexer::new(rules_of::<K>()?)?))
    }

    fn of(lexer: Lexer) -> KindLexer<K> {
        KindLexer { lexer, kinds: Kinds(K::RULES.iter().map(|rule| rule.kind).collect()) }
    }

    /// The same lexer, whose lists have tokens of these kinds only, skipped ones too if they are named; see [`Lexer::only`].
    pub fn only(&self, kinds: &[K]) -> KindLexer<K> {
        let rules = (0..).map(Kind::Rule).zip(K::RULES).filter(|(_, rule)| kinds.contains(&rule.kind));
        let error = kinds.contains(&K::ERROR).then_some(Kind::Error);
        let kept: Vec<Kind> = rules.map(|(kind, _)| kind).chain(error).collect();
        KindLexer::of(self.lexer.only(&kept))
    }

    /// The same lexer, whose lists have skipped tokens too, beside those that they have.
    pub fn with_skips(&self) -> KindLexer<K> {
        KindLexer::of(self.lexer.with_skips())
    }

    /// The same lexer on another device.
    ///
    /// # Errors
    /// Those of [`Lexer::on`].
    pub fn on(&self, device: impl Into<Device>) -> Result<KindLexer<K>, LexerError> {
        Ok(KindLexer::of(self.lexer.on(device)?))
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// Those of [`Lexer::lex`].
    pub fn lex(&self, text: &[u8]) -> Result<KindList<K>, LexerError> {
        let mut tokens = KindList::new();
        self.lex_into(text, &mut tokens)?;
        tokens.kinds.shrink_to_fit();
        tokens.columns.shrink_to_fit();
        Ok(tokens)
    }

    /// [`lex`](KindLexer::lex) into an old list, whose tokens are dropped and whose memory is used again.
    ///
    /// # Errors
    /// Those of [`Lexer::lex`]; the list is empty then.
    pub fn lex_into(&self, text: &[u8], tokens: &mut KindList<K>) -> Result<(), LexerError> {
        tokens.kinds.clear();
        let mut list = TokenList { columns: std::mem::take(&mut tokens.columns) };
        let mut lexed = self.lexer.lex_into(text, &mut list);
        tokens.columns = list.columns;
        if lexed.is_ok() && tokens.kinds.try_reserve(tokens.columns.len()).is_err() {
            lexed = Err(ScanError::OutOfMemory { bytes: tokens.columns.len() * size_of::<K>() }.into());
            tokens.columns.clear();
        }
        tokens.kinds.extend(tokens.columns.kinds().iter().map(|&number| self.kinds.of_number(number)));
        lexed
    }

    /// [`lex`](KindLexer::lex) into columns of these numbers, whose memory is used again: for texts of 4 GB and more, or kinds in one
    /// byte. [`of_number`](KindLexer::of_number) gives the variants.
    ///
    /// ```
    /// use monoscan::lexer::{TokenColumnsOf, TokenKind};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
    /// enum Kind {
    ///     #[keyword("if", "else")]
    ///     Branch,
    ///     #[token("[a-z]+")]
    ///     Name,
    ///     #[error]
    ///     Error,
    /// }
    ///
    /// let lexer = Kind::lexer()?;
    /// let mut tokens = TokenColumnsOf::<u8, u64>::new();
    /// lexer.lex_into_columns(b"else?x", &mut tokens)?;
    /// let kinds: Vec<Kind> = tokens.kinds().iter().map(|&number| lexer.of_number(number)).collect();
    /// assert_eq!(kinds, [Kind::Branch, Kind::Error, Kind::Name]);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lexer::lex_into_columns`].
    pub fn lex_into_columns<N: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        tokens: &mut TokenColumnsOf<N, P>,
    ) -> Result<(), LexerError> {
        self.lexer.lex_into_columns(text, tokens)
    }

    /// The kind that is a number in a column.
    pub fn of_number<N: KindNumber + Into<u16>>(&self, number: N) -> K {
        if number == N::ERROR { K::ERROR } else { self.kinds.of_number(number.into()) }
    }

    /// A stream of chunks of one text, on the CPU.
    ///
    /// # Errors
    /// [`LexerError::NoStream`] on a GPU.
    pub fn stream(&self) -> Result<KindStream<K>, LexerError> {
        Ok(KindStream { stream: self.lexer.stream()?, kinds: self.kinds.clone() })
    }

    /// The lexer whose kinds are numbers of rules, for what else can be asked of it: what it became, which rules lose ties.
    pub fn lexer(&self) -> &Lexer {
        &self.lexer
    }

    /// The kind of a token of [`lexer`](KindLexer::lexer).
    pub fn kind(&self, kind: Kind) -> K {
        self.kinds.of(kind)
    }
}

/// The tokens of a text that comes in chunks, as [`LexerStream`] gives them.
#[derive(Debug)]
pub struct KindStream<K> {
    stream: LexerStream,
    kinds: Kinds<K>,
}

impl<K: TokenKind> KindStream<K> {
    /// Takes the next chunk, and gives the tokens that no later byte changes, from left to right.
    ///
    /// # Errors
    /// Those of [`LexerStream::push`].
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<Streamed<K>>, ScanError> {
        Ok(self.kinds.of_stream(self.stream.push(chunk)?))
    }

    /// Ends the text, and gives its last tokens.
    ///
    /// # Errors
    /// Those of [`LexerStream::finish`].
    pub fn finish(self) -> Result<Vec<Streamed<K>>, ScanError> {
        Ok(self.kinds.of_stream(self.stream.finish()?))
    }
}

impl<K: TokenKind> Kinds<K> {
    fn of_stream(&self, tokens: Vec<Streamed>) -> Vec<Streamed<K>> {
        let typed = |token: Streamed| Streamed { start: token.start, end: token.end, kind: self.of(token.kind) };
        tokens.into_iter().map(typed).collect()
    }
}
