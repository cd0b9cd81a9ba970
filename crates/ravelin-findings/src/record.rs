//! The records: findings, and the modules and threads they refer to.

/// One record of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A robustness violation, a data race or a misuse.
    Finding(FindingRecord),
    /// A loaded file whose code appears in the findings.
    Module(Module),
    /// A thread that appears in the findings.
    Thread(ThreadRecord),
    /// The program cannot continue.
    Stuck(StandstillRecord),
    /// An atomic access of the program, written only on request.
    Site(SiteRecord),
    /// An access of a weak run that took an old value.
    Stale(StaleRecord),
}

/// An access of a weak run that read an old value, or whose write came before a newer one in modification order; one per
/// place in the program. The numbers change in place while the program runs: they are those of the last time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleRecord {
    /// How often it did.
    pub count: u64,
    /// What it read; what it wrote if it only writes.
    pub value: u64,
    /// The newest value at that time.
    pub newest: u64,
    /// The number of scheduling points at that time.
    pub point: u64,
    pub address: u64,
    pub access: AccessRecord,
    /// The newest write at the first time; without a stack if it is not known.
    pub newer: AccessRecord,
    pub place: MemoryKind,
}

/// A robustness violation, a data race or a misuse, one per pair of places in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingRecord {
    /// How often this pair was seen. Grows in place while the program runs.
    pub count: u64,
    /// What is known about spinning at [`FindingRecord::access`]. Changes in place.
    pub spinning: Spinning,
    /// What is wrong.
    pub problem: Problem,
    /// The address of the first byte both touch.
    pub address: u64,
    /// The access that was about to be made: the one that may miss [`FindingRecord::other`], the later one of a race, or
    /// the call that is wrong.
    pub access: AccessRecord,
    /// The write that may be missed, the earlier access of a race, or what makes the call wrong.
    pub other: AccessRecord,
    /// If the stack of `other` is forgotten: how many accesses its thread has made since, at least. Otherwise 0.
    pub forgotten: u64,
    /// What kind of memory the address is in.
    pub place: MemoryKind,
    /// Why `other` comes before `access` in every sequentially consistent run, last step first. For a race: the reads
    /// by which `access` came after `other` in this run, and would happen after it if they synchronised. For locks in
    /// different orders: the locks that were taken while others were held, each step holding what the next one locks,
    /// and the last one what `access` locks. Empty if none are remembered.
    pub path: Vec<OrderStep>,
    /// The number of scheduling points when it was first made; 0 without a schedule.
    pub point: u64,
}

/// How a process crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashRecord {
    /// The signal.
    pub signal: u64,
    /// The number of the thread.
    pub thread: u64,
    /// The address that it accessed; 0 if the signal was sent.
    pub address: u64,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
}

/// No thread can continue. The program is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandstillRecord {
    /// Why.
    pub kind: Standstill,
    /// For how many seconds nothing had happened; 0 for a deadlock or livelock, which is known at once.
    pub seconds: u64,
    /// The number of scheduling points.
    pub point: u64,
    /// All threads that have not ended.
    pub threads: Vec<BlockedThread>,
}

/// Why no thread continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standstill {
    /// Every thread waits for another.
    Deadlock,
    /// Threads run, but only repeat waiting loops.
    Livelock,
    /// Nothing happened for a long time, for an unknown reason.
    NoProgress,
}

/// A thread of a program that cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedThread {
    /// Its number.
    pub thread: u64,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// The object's address, or the number of the thread it joins; 0 if there is none.
    pub object: u64,
    /// The number of the thread that holds the lock, plus 1; 0 if that is not known.
    pub holder: u64,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// It could run.
    Nothing,
    /// A mutex.
    Mutex,
    /// A read-write lock.
    ReadWriteLock,
    /// A spin lock.
    SpinLock,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// A semaphore.
    Semaphore,
    /// The end of a thread.
    Thread,
    /// The end of an initialisation in another thread.
    Initialisation,
    /// A word in memory, by the kernel's futex.
    Futex,
    /// A file descriptor.
    Descriptor,
    /// A time.
    Time,
    /// Something the schedule does not know.
    Unknown,
    /// Its turn.
    Turn,
    /// Nothing: it has the turn and runs, but without actions that the schedule sees.
    Point,
}

impl WaitsFor {
    /// In the order of their numbers.
    pub const ALL: [WaitsFor; 15] = [
        WaitsFor::Nothing,
        WaitsFor::Mutex,
        WaitsFor::ReadWriteLock,
        WaitsFor::SpinLock,
        WaitsFor::Condition,
        WaitsFor::Barrier,
        WaitsFor::Semaphore,
        WaitsFor::Thread,
        WaitsFor::Initialisation,
        WaitsFor::Futex,
        WaitsFor::Descriptor,
        WaitsFor::Time,
        WaitsFor::Unknown,
        WaitsFor::Turn,
        WaitsFor::Point,
    ];
}

/// An atomic access in the program, or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRecord {
    /// The return address of the access.
    pub pc: u64,
    /// What it does.
    pub kind: AccessKind,
    /// Its order; for a compare-exchange that of success.
    pub order: RecordedOrder,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A load, or a compare-exchange that fails, may read a value older than the write.
    StaleRead,
    /// A store may end up before the write in modification order.
    StaleWrite,
    /// A read-modify-write may read a value older than the write.
    StaleUpdate,
    /// Conflicting accesses, at least one of them non-atomic, unordered by happens-before.
    Race,
    /// Locks were locked in different orders; [`FindingRecord::path`] is the circle.
    LockOrderInversion,
    /// A lock was unlocked by a thread that does not hold it, while another does.
    UnlockByAnother,
    /// A lock was unlocked that no thread holds.
    UnlockOfUnlocked,
    /// A lock was destroyed while it was held.
    DestroyOfLocked,
    /// A thread waits for a lock that it holds itself.
    DoubleLock,
    /// A lock was used after it was destroyed.
    UseOfDestroyed,
    /// A block of the heap was freed twice.
    DoubleFree,
    /// A thread ended and was neither joined nor detached.
    ThreadLeak,
    /// A signal handler changed `errno`.
    ErrnoChange,
    /// A file descriptor was closed, and nothing orders that with another call that uses or closes it.
    DescriptorRace,
}

impl Problem {
    /// In the order of their numbers.
    pub const ALL: [Problem; 14] = [
        Problem::StaleRead,
        Problem::StaleWrite,
        Problem::StaleUpdate,
        Problem::Race,
        Problem::LockOrderInversion,
        Problem::UnlockByAnother,
        Problem::UnlockOfUnlocked,
        Problem::DestroyOfLocked,
        Problem::DoubleLock,
        Problem::UseOfDestroyed,
        Problem::DoubleFree,
        Problem::ThreadLeak,
        Problem::ErrnoChange,
        Problem::DescriptorRace,
    ];
}

/// Whether a stale read only makes a waiting loop repeat once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spinning {
    /// There is no evidence for it.
    No,
    /// Every value that may be read here was always followed by the same read again, so it is harmless.
    Harmless,
}

/// One access: which thread, where, how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRecord {
    /// Number of the thread; the first one is 0.
    pub thread: u64,
    /// What it did.
    pub kind: AccessKind,
    /// Its order.
    pub order: RecordedOrder,
    /// How many bytes it touched.
    pub size: u64,
    /// Return addresses, innermost first: the first is that of the access, the others are calls. Empty if forgotten.
    pub stack: Vec<u64>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// An atomic read-modify-write other than compare-exchange.
    Update,
    /// A compare-exchange.
    CompareExchange,
    /// A marked wait for a value.
    Wait,
    /// A marked compare-exchange that is repeated until it succeeds.
    BlockingCompareExchange,
    /// A non-atomic read.
    PlainRead,
    /// A non-atomic write.
    PlainWrite,
    /// The freeing of the memory.
    Free,
    /// A compare-exchange that failed, and acquires less than it would have on success.
    FailedCompareExchange,
    /// A lock was locked.
    Lock,
    /// A lock was locked for reading.
    ReadLock,
    /// A lock was unlocked.
    Unlock,
    /// A lock was destroyed.
    Destroy,
    /// A thread was started.
    ThreadStart,
    /// A thread ended.
    ThreadEnd,
    /// A signal handler.
    SignalHandler,
    /// What a signal handler interrupted.
    InterruptedCode,
    /// A file descriptor was used.
    DescriptorUse,
    /// A file descriptor was closed.
    Close,
}

impl AccessKind {
    /// In the order of their numbers.
    pub const ALL: [AccessKind; 20] = [
        AccessKind::Load,
        AccessKind::Store,
        AccessKind::Update,
        AccessKind::CompareExchange,
        AccessKind::Wait,
        AccessKind::BlockingCompareExchange,
        AccessKind::PlainRead,
        AccessKind::PlainWrite,
        AccessKind::Free,
        AccessKind::FailedCompareExchange,
        AccessKind::Lock,
        AccessKind::ReadLock,
        AccessKind::Unlock,
        AccessKind::Destroy,
        AccessKind::ThreadStart,
        AccessKind::ThreadEnd,
        AccessKind::SignalHandler,
        AccessKind::InterruptedCode,
        AccessKind::DescriptorUse,
        AccessKind::Close,
    ];
}

/// The order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordedOrder {
    /// Not atomic.
    Plain,
    /// `memory_order_relaxed`.
    Relaxed,
    /// `memory_order_acquire` (and `consume`).
    Acquire,
    /// `memory_order_release`.
    Release,
    /// `memory_order_acq_rel`.
    AcqRel,
    /// `memory_order_seq_cst`.
    SeqCst,
}

impl RecordedOrder {
    /// In the order of their numbers.
    pub const ALL: [RecordedOrder; 6] = [
        RecordedOrder::Plain,
        RecordedOrder::Relaxed,
        RecordedOrder::Acquire,
        RecordedOrder::Release,
        RecordedOrder::AcqRel,
        RecordedOrder::SeqCst,
    ];

    /// The order with this number.
    pub fn of(number: u64) -> Option<RecordedOrder> {
        RecordedOrder::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Whether a read with this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, RecordedOrder::Acquire | RecordedOrder::AcqRel | RecordedOrder::SeqCst)
    }

    /// Whether a write with this order releases.
    pub fn releases(self) -> bool {
        matches!(self, RecordedOrder::Release | RecordedOrder::AcqRel | RecordedOrder::SeqCst)
    }
}

/// What kind of memory an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// A global variable, or unknown: the modules' symbols may identify it.
    Other,
    /// A block of the heap.
    Heap {
        /// Its first byte.
        start: u64,
        /// Its length.
        size: u64,
        /// The thread that allocated it.
        thread: u64,
        /// Where it was allocated.
        stack: Vec<u64>,
    },
    /// A thread's stack.
    Stack {
        /// The thread that owns the stack.
        thread: u64,
    },
    /// No memory, but a file descriptor: the address is its number.
    Descriptor {
        /// The thread that opened it.
        thread: u64,
        /// Where it did; empty if that is not known.
        stack: Vec<u64>,
    },
}

/// One step of the path that orders two accesses under sequential consistency: `before` happened, then `after`, on the
/// same address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStep {
    /// How they are ordered.
    pub kind: OrderStepKind,
    /// The address both accessed.
    pub address: u64,
    /// The earlier one (its stack has one entry at most).
    pub before: AccessRecord,
    /// The later one (its stack has one entry at most).
    pub after: AccessRecord,
    /// `before` releases too little for the two to synchronise, by its order and by fences.
    pub lacks_release: bool,
    /// `after` acquires too little.
    pub lacks_acquire: bool,
}

/// How two accesses of one location are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStepKind {
    /// `after` read what `before` wrote, or something newer (rf).
    ReadsFrom,
    /// `after` overwrote what `before` wrote (mo).
    Overwrites,
    /// `after` overwrote what `before` had read (fr).
    OverwritesRead,
    /// `before` locked the address, which the thread still held at `after`, by which it locked another one.
    WhileHolding,
}

impl OrderStepKind {
    /// In the order of their numbers.
    pub const ALL: [OrderStepKind; 4] = [
        OrderStepKind::ReadsFrom,
        OrderStepKind::Overwrites,
        OrderStepKind::OverwritesRead,
        OrderStepKind::WhileHolding,
    ];
}

/// A file loaded into the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// What to subtract from an address to get the address in the file.
    pub bias: u64,
    /// First address in use.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// The file's path; empty for the program itself if its name is not known.
    pub path: Vec<u8>,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRecord {
    /// Its number; the first one is 0.
    pub number: u64,
    /// The thread that started it.
    pub parent: u64,
    /// Its name, if it has one.
    pub name: Vec<u8>,
    /// Where it was started.
    pub stack: Vec<u64>,
}
