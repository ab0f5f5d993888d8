//! The intrinsics: what kernels ask of a GPU. `codegen/src/nvptx/emit/intrinsics.ll` is the
//! contract, and gives them to a real one.

macro_rules! intrinsics {
    ($($(#[$doc:meta])* $intrinsic:ident $name:literal;)*) => {
        /// A function of `intrinsics.ll`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Intrinsic { $($(#[$doc])* $intrinsic),* }

        impl Intrinsic {
            /// All of them.
            pub const ALL: &[Intrinsic] = &[$(Intrinsic::$intrinsic),*];

            /// Its name in kernels.
            pub fn name(self) -> &'static str {
                match self { $(Intrinsic::$intrinsic => concat!("scan.", $name)),* }
            }
        }
    };
}

intrinsics! {
    /// The number of the thread in its block.
    Thread "thread";
    /// The number of the block.
    Block "block";
    /// How many blocks were launched.
    Blocks "blocks";
    /// Where shared memory begins.
    Shared "shared";
    /// The same, as a value of the warp.
    SharedOfWarp "shared_of_warp";
    /// All threads of the block wait for each other.
    Barrier "barrier";
    /// The lanes of a warp wait for each other.
    WarpBarrier "warp_barrier";
    /// A value of a lane below.
    ShuffleUp "shuffle_up";
    /// A value of a lane above.
    ShuffleDown "shuffle_down";
    /// A value of one lane.
    ShuffleFrom "shuffle_from";
    /// One bit of each lane.
    Ballot "ballot";
    /// A permutation of bytes.
    PickBytes "pick_bytes";
    /// Two bytes side by side.
    PairBytes "pair_bytes";
    /// The bits of one word where a mask has ones, and of another where it has zeros.
    SelectBits "select_bits";
    /// The place of the highest 1 of a word.
    HighestBit "highest_bit";
    /// A number that the optimiser knows nothing of.
    Opaque "opaque";
    /// A number and the four bytes of a word, added up.
    AddBytes "add_bytes";
    /// The number that a binary16 float is.
    FromF16 "from_f16";
    /// The nearest binary16 float.
    ToF16 "to_f16";
    /// The nearest bfloat16.
    ToBf16 "to_bf16";
    /// The bits of a float.
    FloatBits "float_bits";
    /// The bits of a double.
    DoubleBits "double_bits";
    /// Sets up a barrier in shared memory.
    BarrierInit "barrier_init";
    /// Makes it visible.
    BarrierInitFence "barrier_init_fence";
    /// Arrives at it.
    BarrierArrive "barrier_arrive";
    /// Arrives, and announces bytes of bulk copies.
    BarrierExpect "barrier_expect";
    /// Asks whether a phase of it has ended.
    BarrierTryWait "barrier_try_wait";
    /// A copy from device to shared memory.
    BulkLoad "bulk_load";
    /// A copy from shared to device memory.
    BulkStore "bulk_store";
    /// Ends a group of bulk stores.
    BulkCommit "bulk_commit";
    /// Waits until bulk stores have read.
    BulkWaitRead "bulk_wait_read";
    /// Waits until bulk stores have written.
    BulkWait "bulk_wait";
    /// Orders ordinary accesses before bulk copies.
    BulkFence "bulk_fence";
    /// A hint for the cache.
    PolicyKeep "policy_keep";
    /// A hint for the cache.
    PolicyNormal "policy_normal";
    /// A hint for the cache.
    PolicyStream "policy_stream";
    /// 8 bytes that others write.
    LoadWord "load_word";
    /// 16 bytes that others write.
    LoadPair "load_pair";
    /// 16 bytes that nobody writes.
    LoadOnce "load_once";
    /// Writes 8 bytes for others.
    StoreWord "store_word";
    /// Writes 16 bytes for others.
    StorePair "store_pair";
    /// Adds to 4 bytes.
    Add "add";
    /// Adds to 8 bytes.
    AddWord "add_word";
    /// 4 bytes that others write.
    LoadControl "load_control";
    /// Writes 4 bytes for others.
    StoreControl "store_control";
    /// Asks for bytes that are read soon.
    Prefetch "prefetch";
    /// Nanoseconds.
    Clock "clock";
    /// Lets time go by.
    Sleep "sleep";
}

impl Intrinsic {
    /// Whether its result depends on its arguments alone, and nothing else comes of it.
    pub fn is_pure(self) -> bool {
        use Intrinsic::*;
        let converts = matches!(self, FromF16 | ToF16 | ToBf16 | FloatBits | DoubleBits | Opaque);
        converts || matches!(self, PickBytes | PairBytes | AddBytes | SelectBits | HighestBit)
    }

    /// Whether it orders something, so that a kernel that can do without it should.
    pub fn orders(self) -> bool {
        use Intrinsic::*;
        let threads =
            matches!(self, Barrier | WarpBarrier | BarrierInitFence | BarrierArrive | BarrierExpect | BarrierTryWait);
        threads || matches!(self, BulkCommit | BulkWaitRead | BulkWait | BulkFence)
    }

    /// The intrinsic of this name.
    pub(crate) fn named(name: &str) -> Option<Intrinsic> {
        Intrinsic::ALL.iter().copied().find(|intrinsic| intrinsic.name() == name)
    }
}
