/**
 * Sends one client of version 2 a snapshot, or the missed messages, and then every change that its filters include. A
 * client that reads too slowly loses messages, and is sent a new snapshot when it reads again. A client that confirms
 * messages is sent no more than its line carries: waiting changes are merged to the newest value of each record.
 */

import { createHash } from 'node:crypto'
import type { WebSocket } from 'ws'
import type { LevelsRequest, SweepsRequest } from '../contract/live-messages.ts'
import type { SocketError } from '../contract/messages.ts'
import { includesReceiver, localSite } from '../domain/equipment/sites.ts'
import { isSameJson } from '../domain/json.ts'
import {
  type GroupMembers,
  includesSubject,
  type ListType,
  type LiveFilter,
  type LiveSubject,
  listTypes,
  settingScopeOf,
} from '../domain/live/filter.ts'
import type { LiveSpectrum } from '../frequencies/live-spectrum.ts'
import { now } from '../platform/clock.ts'
import { HeldChanges, type HeldFrame } from './held-changes.ts'
import { LineWindow } from './line-window.ts'
import type { LiveData } from './live-data.ts'
import type { JournalEntry, LevelsEntry } from './live-journal.ts'
import type { LivePublisher, LiveSubscriber } from './live-publisher.ts'
import { sweepFrame } from './sweep-frames.ts'

export interface LiveOptions {
  readonly filter: LiveFilter
  readonly levels: 'false' | 'true' | 'full'
  readonly acks: boolean
  /** The last message of an earlier connection; null to start with a snapshot. */
  readonly since: { readonly seq: number; readonly epoch: string } | null
}

/** A message, or a fragment of a snapshot. Fragments show the progress of a slow client. */
interface Frame {
  readonly bytes: Buffer
  readonly isLast: boolean
  /** The next `levels` message waits for its acknowledgement. */
  readonly isAcknowledged: boolean
  /** Null for a snapshot. */
  readonly seq: number | null
}

/** Approximate length of an entry of a `levels` message. */
const levelsEntryBytes = { true: 16, full: 40 } as const

const maxQueuedBytes = 128 * 1024
const maxUnsentBytes = 32 * 1024
const fragmentBytes = 32 * 1024
const tickMs = 1000
const maxStallMs = 30_000
const closeTimeoutMs = 1000
/** A longer write had to wait until the client read earlier data. */
const waitedMs = 250

export class LiveSession implements LiveSubscriber {
  /** `sites`: codes, null for all. */
  #levels: { readonly levels: LiveOptions['levels']; readonly sites: ReadonlySet<string> | null }
  readonly #socket: WebSocket
  readonly #live: LivePublisher
  readonly #liveData: LiveData
  readonly #installation: string
  readonly #options: LiveOptions
  readonly #onProgress: () => void
  readonly #timer: NodeJS.Timeout
  #initial: Frame[] = []
  #queue: Frame[] = []
  #queuedBytes = 0
  #unsentBytes = 0
  /** When the socket last accepted bytes (`performance.now()`). Undefined while none are unsent. */
  #progressAt = performance.now()
  #needsSnapshot = false
  #members: GroupMembers | null = null
  /** The last `levels` message waits to be sent (`queued`) or acknowledged (`sent`). */
  #levelsState: 'idle' | 'queued' | 'sent' = 'idle'
  #levelsSeq = 0
  /** Channels whose levels were held back. */
  readonly #heldLevels = new Set<number>()
  /** The source whose sweeps are sent. */
  #sweepSource: string | null = null
  /** Null until the client confirms a message by its number. */
  #window: LineWindow | null = null
  readonly #held = new HeldChanges()
  #sentSeq = 0
  #unsubscribe: (() => void) | undefined

  /** `onProgress`: the client has read data after a delay. */
  constructor(
    socket: WebSocket,
    live: LivePublisher,
    liveData: LiveData,
    installation: string,
    options: LiveOptions,
    onProgress: () => void,
  ) {
    this.#socket = socket
    this.#live = live
    this.#liveData = liveData
    this.#installation = installation
    this.#options = options
    this.#onProgress = onProgress
    this.#levels = { levels: options.levels, sites: null }
    this.#timer = setInterval(() => this.#checkIdle(), tickMs)
  }

  get wantsAllLevels(): boolean {
    return this.#levels.levels === 'full'
  }

  start(): void {
    const live = this.#live
    live.synchronize()
    this.#members = this.#liveData.members(this.#options.filter)
    if (!this.#resume()) this.#queueSnapshot()
    this.#unsubscribe = live.subscribe(this)
    this.#pump()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#unsubscribe?.()
    this.#initial = []
    this.#queue = []
    const missing = [this.#held.firstSeq, this.#window?.overtakenSeq ?? null].filter((seq) => seq !== null)
    const from = Math.min(...missing)
    if (from < this.#sentSeq) this.#live.journal.addHole(from, this.#sentSeq)
    this.#held.clear()
  }

  send(message: object): void {
    this.#enqueue({ bytes: Buffer.from(JSON.stringify(message)), isLast: true, isAcknowledged: false, seq: null })
    if (this.#queuedBytes > maxQueuedBytes) this.restart()
    else this.#pump()
  }

  deliver(entries: readonly JournalEntry[]): void {
    if (this.#needsSnapshot) return
    if (this.#members !== null && entries.some(changesMembers) && this.#hasOtherMembers()) {
      this.restart()
      return
    }
    // Checked before the batch is added: a large batch does not mean that the client is slow.
    if (this.#queuedBytes + this.#held.bytes > maxQueuedBytes) {
      this.restart()
      return
    }
    for (const entry of entries) this.#add(entry)
    this.#pump()
  }

  restart(): void {
    this.#needsSnapshot = true
    this.#queue = []
    this.#queuedBytes = 0
    this.#held.clear()
    this.#heldLevels.clear()
    if (this.#levelsState === 'queued') this.#levelsState = 'idle'
    this.#pump()
  }

  /** Manufacturers whose levels the client receives; null for all. */
  shownManufacturers(): Iterable<string> | null {
    const { filter } = this.#options
    if (this.#levels.levels === 'false') return []
    if (this.#members !== null) return this.#members.manufacturers
    return filter.manufacturer === undefined ? null : [filter.manufacturer]
  }

  /** Codes of the sites whose levels the client receives; null for all. */
  shownSites(): Iterable<string> | null {
    const { levels, sites } = this.#levels
    const { site } = this.#options.filter
    if (levels === 'false') return []
    return site === undefined ? sites : [site]
  }

  /** Sends other levels from now on, beginning with the current ones. */
  changeLevels({ levels, sites }: LevelsRequest): SocketError | null {
    if (!this.#options.acks) {
      return { type: 'error', error: 'levels: only a connection with ack=1 can change its levels.' }
    }
    this.#levels = { levels, sites: sites === undefined ? null : new Set(sites) }
    this.#heldLevels.clear()
    this.#live.recordSent()
    if (levels !== 'false') this.#holdAllLevels()
    return null
  }

  selectSweeps({ source }: SweepsRequest): void {
    this.#sweepSource = source
  }

  /** A sweep is left out unless everything before it was read, so that at most one waits. */
  deliverSweep(spectrum: LiveSpectrum): void {
    if (spectrum.source !== this.#sweepSource || !this.#isIdle) return
    const bytes = sweepFrame(spectrum)
    if (bytes.length > this.#levelsRoom) return
    this.#enqueue({ bytes, isLast: true, isAcknowledged: false, seq: null })
    this.#pump()
  }

  get #isIdle(): boolean {
    const isWaiting = this.#initial.length > 0 || this.#queue.length > 0 || this.#needsSnapshot || this.#isHolding
    return this.#unsentBytes === 0 && !isWaiting
  }

  /** `seq` null: the last `levels` message. Returns false if no acknowledgement is expected. */
  acknowledge(seq: number | null): boolean {
    if (!this.#options.acks) return false
    const isNews = seq === null ? this.#levelsState === 'sent' : this.#confirm(seq)
    if (this.#levelsState === 'sent' && (seq === null || seq >= this.#levelsSeq)) this.#levelsState = 'idle'
    if (this.#levelsState === 'idle') this.#live.repeatLevels(this.#heldLevels)
    return isNews
  }

  #confirm(seq: number): boolean {
    if (this.#window === null) {
      this.#window = new LineWindow()
      // Messages that were not written can be merged.
      const waiting = this.#queue.filter(({ seq, isAcknowledged }) => seq !== null && !isAcknowledged)
      this.#queue = this.#queue.filter((frame) => !waiting.includes(frame))
      for (const { bytes } of waiting) {
        this.#held.add(bytes)
        this.#queuedBytes -= bytes.length
      }
    }
    const isNews = this.#window.confirm(seq, performance.now())
    this.#release()
    return isNews
  }

  #release(): void {
    while (this.#window?.isFull(performance.now()) === false) {
      const frame = this.#held.shift()
      if (frame === null) break
      this.#sendNumbered(frame)
    }
    this.#pump()
  }

  /** A client can resume only if the process, the filters and the members of the group are unchanged. */
  #epoch(): string {
    const { filter, levels } = this.#options
    const { epoch } = this.#live.journal
    if (!this.#isFiltered && levels === 'true') return epoch
    const key = JSON.stringify([filter.manufacturer, filter.site, filter.group, levels, ...idsOf(this.#members)])
    return `${epoch}-${createHash('sha1').update(key).digest('hex').slice(0, 12)}`
  }

  #resume(): boolean {
    const { since, acks } = this.#options
    const { journal } = this.#live
    const epoch = this.#epoch()
    if (since === null || since.epoch !== epoch || journal.isInHole(since.seq)) return false
    const missed = journal.since(since.seq)
    if (missed === null) return false
    // Levels that were held back on the earlier connection may be older than `since`, so all current levels are sent.
    const entries = acks ? missed.filter(({ type }) => type !== 'levels') : missed
    const frames = entries.flatMap((entry) => this.#narrow(entry) ?? [])
    const resumed = Buffer.from(JSON.stringify({ type: 'resumed', seq: since.seq, epoch }))
    this.#initial = [resumed, ...frames].map((bytes) => ({ bytes, isLast: true, isAcknowledged: false, seq: null }))
    if (acks && this.#levels.levels !== 'false') this.#holdAllLevels()
    return true
  }

  #queueSnapshot(): void {
    const [live, liveData, installation] = [this.#live, this.#liveData, this.#installation]
    const { filter } = this.#options
    this.#members = liveData.members(filter)
    const fields = { seq: live.journal.seq, epoch: this.#epoch(), installation, via: live.lists.via() }
    const head = JSON.stringify({ type: 'snapshot', ...fields }).slice(0, -1)
    const bytes = Buffer.from(`${head},"data":${liveData.snapshotJson(filter)}}`)
    if (this.#window !== null) {
      this.#window = new LineWindow()
      this.#window.record({ seq: fields.seq, firstSeq: fields.seq, bytes: bytes.length }, performance.now())
    }
    for (let start = 0; start < bytes.length; start += fragmentBytes) {
      const end = Math.min(start + fragmentBytes, bytes.length)
      const isLast = end === bytes.length
      this.#initial.push({ bytes: bytes.subarray(start, end), isLast, isAcknowledged: false, seq: null })
    }
  }

  #hasOtherMembers(): boolean {
    const members = this.#liveData.members(this.#options.filter)
    return !isSameJson(idsOf(this.#members), idsOf(members))
  }

  #add(entry: JournalEntry): void {
    const { acks } = this.#options
    if (entry.type === 'levels' && acks) {
      this.#addAcknowledged(entry)
      return
    }
    const bytes = this.#narrow(entry)
    if (bytes === null) return
    if (this.#isHolding) this.#held.add(bytes)
    else this.#sendNumbered({ seq: entry.seq, firstSeq: entry.seq, bytes })
  }

  get #isHolding(): boolean {
    return this.#window !== null && (!this.#held.isEmpty || this.#window.isFull(performance.now()))
  }

  #sendNumbered({ seq, firstSeq, bytes }: HeldFrame, isAcknowledged = false): void {
    this.#sentSeq = Math.max(this.#sentSeq, seq)
    this.#window?.record({ seq, firstSeq, bytes: bytes.length }, performance.now())
    this.#enqueue({ bytes, isLast: true, isAcknowledged, seq })
  }

  #sendLevels(bytes: Buffer, seq: number): void {
    this.#levelsState = 'queued'
    this.#levelsSeq = seq
    this.#sendNumbered({ seq, firstSeq: seq, bytes }, true)
  }

  /** Holds the entries back until the previous message is acknowledged and the line is free. */
  #addAcknowledged(entry: LevelsEntry): void {
    if (this.#levels.levels === 'false') return
    const isFree = this.#levelsState === 'idle' && !this.#isHolding
    if (isFree && this.#heldLevels.size === 0 && this.#levelsRoom === Number.POSITIVE_INFINITY) {
      const bytes = this.#narrowLevels(entry)
      if (bytes !== null) this.#sendLevels(bytes, entry.seq)
      return
    }
    for (const channelId of entry.levels.ids) if (this.#includesLevels(channelId)) this.#heldLevels.add(channelId)
    if (isFree && this.#heldLevels.size > 0) this.#enqueueHeldLevels(entry.seq)
  }

  get #levelsRoom(): number {
    return this.#window?.room(performance.now()) ?? Number.POSITIVE_INFINITY
  }

  /** Queues the current levels of the held channels, instead of the `levels` message with this number. */
  #enqueueHeldLevels(seq: number): void {
    const at = new Date(now()).toISOString()
    const count = Math.max(1, Math.floor(this.#levelsRoom / levelsEntryBytes[this.wantsAllLevels ? 'full' : 'true']))
    const ids = [...this.#heldLevels].slice(0, count)
    const levels = this.#live.currentLevels(ids)
    for (const id of ids) this.#heldLevels.delete(id)
    const bytes = levels.toFrame({ seq, at, isFull: this.wantsAllLevels })
    if (bytes !== null) this.#sendLevels(bytes, seq)
  }

  #holdAllLevels(): void {
    const live = this.#live
    for (const id of live.channelIds()) if (this.#includesLevels(id)) this.#heldLevels.add(id)
    live.repeatLevels(this.#heldLevels)
  }

  /** Returns the part of the message that the filters include. */
  #narrow(entry: JournalEntry): Buffer | null {
    if (entry.type === 'levels') return this.#narrowLevels(entry)
    const { filter } = this.#options
    const { type, seq, frame, subject } = entry
    if (!this.#isFiltered) return frame
    if (!includesSubject(subject, filter, this.#members)) return null
    if (listTypes.has(type)) {
      return Buffer.from(JSON.stringify({ type, seq, ...this.#liveData.list(type as ListType, filter) }))
    }
    if (type === 'slot_records') {
      const narrowed = this.#liveData.narrowSlotRecords(JSON.parse(String(frame)), filter)
      return narrowed && Buffer.from(JSON.stringify({ type, seq, ...narrowed }))
    }
    if (type === 'settings') return isSettingsScope(subject, filter) ? frame : null
    return type === 'slots' ? this.#narrowSlots(frame) : frame
  }

  #narrowLevels(entry: LevelsEntry): Buffer | null {
    const isFull = this.wantsAllLevels
    const { levels, sites } = this.#levels
    if (levels === 'false') return null
    if (!this.#isFiltered && sites === null) return this.#live.journal.levelsFrame(entry, isFull)
    return entry.levels.toFrame({ ...entry, isFull }, (channelId) => this.#includesLevels(channelId))
  }

  #narrowSlots(frame: Buffer): Buffer | null {
    const { values, ...message } = JSON.parse(String(frame)) as { values: readonly (readonly [number, number])[] }
    const included = values.filter(([channelId]) => this.#includes(channelId))
    return included.length === 0 ? null : Buffer.from(JSON.stringify({ ...message, values: included }))
  }

  get #isFiltered(): boolean {
    const { manufacturer, site, group } = this.#options.filter
    return manufacturer !== undefined || site !== undefined || group !== undefined
  }

  #includes(channelId: number): boolean {
    if (!this.#isFiltered) return true
    // `#members` respects the other filters too.
    if (this.#members !== null) return this.#members.channels.has(channelId)
    const receiver = this.#live.receiverOf(channelId)
    return receiver !== undefined && includesReceiver(this.#options.filter, receiver)
  }

  #includesLevels(channelId: number): boolean {
    const { sites } = this.#levels
    if (!this.#includes(channelId)) return false
    return sites === null || sites.has(this.#live.receiverOf(channelId)?.origin?.site.code ?? localSite)
  }

  #enqueue(frame: Frame): void {
    this.#queue.push(frame)
    this.#queuedBytes += frame.bytes.length
  }

  #pump(): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    while (this.#unsentBytes < maxUnsentBytes) {
      const frame = this.#initial.shift() ?? this.#nextQueued()
      if (frame === null) return
      this.#write(frame)
    }
  }

  /** A snapshot starts when the client has read everything that was sent before. */
  #nextQueued(): Frame | null {
    const frame = this.#queue.shift()
    if (frame !== undefined) {
      this.#queuedBytes -= frame.bytes.length
      return frame
    }
    if (!this.#needsSnapshot || this.#unsentBytes > 0) return null
    this.#needsSnapshot = false
    this.#live.synchronize()
    this.#queueSnapshot()
    return this.#initial.shift() ?? null
  }

  #write({ bytes, isLast, isAcknowledged }: Frame): void {
    const writtenAt = performance.now()
    if (this.#unsentBytes === 0) this.#progressAt = writtenAt
    if (isAcknowledged) this.#levelsState = 'sent'
    this.#unsentBytes += bytes.length
    this.#timer.refresh()
    this.#socket.send(bytes, { binary: false, fin: isLast }, (error) => {
      if (error) return
      this.#unsentBytes -= bytes.length
      this.#progressAt = performance.now()
      if (this.#progressAt - writtenAt > waitedMs) this.#onProgress()
      this.#pump()
    })
  }

  /** Sends a tick after a second without messages. Disconnects a client that no longer reads. */
  #checkIdle(): void {
    if (this.#unsentBytes === 0) {
      this.send({ type: 'tick', at: new Date(now()).toISOString() })
      return
    }
    if (performance.now() - this.#progressAt < maxStallMs) return
    this.#socket.close(1013, 'Too slow')
    // Gives the client time to read the close reason.
    setTimeout(() => this.#socket.terminate(), closeTimeoutMs).unref()
    this.stop()
  }
}

/** The sorted ids of channels and placeholders. */
function idsOf(members: GroupMembers | null): readonly (readonly number[])[] {
  const sorted = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b)
  return [sorted(members?.channels ?? []), sorted(members?.placeholders ?? [])]
}

/** True if settings of this scope apply to a client with this filter. */
function isSettingsScope({ manufacturer = null, group = null }: LiveSubject, filter: LiveFilter): boolean {
  const scope = settingScopeOf(filter)
  return manufacturer === scope.manufacturer && group === scope.group
}

function changesMembers(entry: JournalEntry): boolean {
  return entry.type !== 'levels' && entry.changesMembers
}
