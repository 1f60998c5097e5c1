/** Clips with real files and a real database; the sound comes from the memory of the worker, filled by the test. */

import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { createTestFolder } from '../../../test/support/store/databases.ts'
import { openStore } from '../../../test/support/store/helpers.ts'
import { defaultSettings } from '../../contract/settings.ts'
import { HeldSound } from '../../domain/audio/held-sound.ts'
import { aboutAll, draftEvent, type EventRecord } from '../../domain/events/event.ts'
import type { EffectiveSettings } from '../../lists/effective-settings.ts'
import { ClipRecording } from './clip-recording.ts'
import { ClipStore } from './clip-store.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function openClips(settings: Partial<typeof defaultSettings> = {}) {
  const db = await openStore('sqlite')
  const { path: folder, drop } = await createTestFolder()
  onTestEnd(drop)
  const values = { ...defaultSettings, ...settings }
  const clips = new ClipStore(folder, { db, log, settings: { get: () => values } as unknown as EffectiveSettings })
  return { db, clips, values, folder: join(folder, 'clips') }
}

const start = Date.now() - 3_600_000

function event(id: number, time: number, more: Partial<EventRecord> = {}): EventRecord {
  return { ...draftEvent('marker', { ...aboutAll, channel_id: 5 }, { time }), id, ...more }
}

/** The memory of the worker: a ramp with a step for each sample, in blocks of 20 ms. */
class Memory {
  readonly sound = new HeldSound()
  #blocks = 0

  /** Adds the sound until then. `lost` blocks are missing. */
  fill(until: number, lost: readonly number[] = []): void {
    for (; start + (this.#blocks + 1) * 20 <= until; this.#blocks++) {
      const samples = Int16Array.from({ length: 960 }, (_, i) => ((this.#blocks * 960 + i) % 30_000) + 1)
      const isLost = lost.includes(this.#blocks)
      this.sound.add(
        start + this.#blocks * 20,
        isLost ? new Int16Array(960) : samples,
        isLost ? [{ from: 0, to: 960 }] : [],
      )
    }
  }

  get channel() {
    const read = async (from: number, to: number) => this.sound.read(from, to)
    return { read, discard: () => this.sound.discard(), release() {} }
  }
}

async function record(
  clips: ClipStore,
  memory: Memory,
  first: EventRecord,
  until: number,
  note?: (recording: ClipRecording, now: number) => void,
  lateMs = 500,
) {
  const recording = new ClipRecording(clips, memory.channel, 5, first)
  let now = first.time + lateMs
  for (; now < until; now += 1000) {
    memory.fill(now)
    note?.(recording, now)
    await recording.advance(now)
    if (recording.isComplete(now)) break
  }
  return { clip: await recording.finish(() => ['hum']), now }
}

// Conformance: C-27.80.
it('keeps 15 s before and 10 s after an event without a gap, in a WAV file', async () => {
  const { clips } = await openClips()
  const memory = new Memory()
  memory.fill(start + 16_000, [40, 41])
  const { clip, now } = await record(clips, memory, event(1, start + 15_500), start + 60_000)
  expect(now).toBeGreaterThanOrEqual(start + 26_500)
  expect(clip).toMatchObject({ channel_id: 5, event_ids: [1], from: start + 500, to: start + 25_500, faults: ['hum'] })
  expect(clip?.lost_packets).toBe(40)
  const file = await readFile(clips.pathOf(clip as NonNullable<typeof clip>))
  expect(file).toHaveLength(44 + 25 * 96_000)
  expect(clip?.size).toBe(file.length)
  expect(file.readUInt32LE(40)).toBe(25 * 96_000)
  const first = 500 * 48
  const wrong = Array.from({ length: 25 * 48_000 }, (_, i) => file.readInt16LE(44 + 2 * i)).findIndex((value, i) => {
    const isLost = Math.floor((first + i) / 960) === 40 || Math.floor((first + i) / 960) === 41
    return value !== (isLost ? 0 : ((first + i) % 30_000) + 1)
  })
  expect(wrong).toBe(-1)
})

// Conformance: C-27.13.
it('keeps 15 s before an event that is stored 4 s late', async () => {
  const { clips } = await openClips()
  const memory = new Memory()
  memory.fill(start + 44_000)
  const { clip } = await record(clips, memory, event(1, start + 40_000), start + 60_000, undefined, 4000)
  expect(clip).toMatchObject({ from: start + 25_000, to: start + 50_000, lost_packets: 0 })
})

// Conformance: C-27.81.
it('is extended by events in it, to at most 60 s', async () => {
  const { clips } = await openClips()
  const memory = new Memory()
  memory.fill(start + 16_000)
  const extend = (recording: ClipRecording, now: number) => {
    const next = event(Math.floor(now / 1000), now)
    if (recording.span.contains(next)) recording.note(next)
  }
  const { clip } = await record(clips, memory, event(1, start + 15_000), start + 120_000, extend)
  expect((clip?.to ?? 0) - (clip?.from ?? 0)).toBe(60_000)
  expect(clip?.event_ids[0]).toBe(1)
  expect(clip?.event_ids.length).toBeGreaterThan(30)
})

it('ends 10 s after the end of an event that continues', async () => {
  const { clips } = await openClips()
  const memory = new Memory()
  memory.fill(start + 16_000)
  const open = event(1, start + 15_000, { is_open: true })
  const { clip } = await record(clips, memory, open, start + 120_000, (recording, now) => {
    if (now > start + 20_000) recording.note({ ...open, is_open: false, until: start + 20_000 })
  })
  expect(clip?.to).toBe(start + 30_000)
})

it('has no clip without sound, and leaves no file', async () => {
  const { clips, folder } = await openClips()
  const { clip } = await record(clips, new Memory(), event(1, start - 50_000), start - 30_000)
  expect(clip).toBeNull()
  expect(await readdir(folder).catch(() => [])).toEqual([])
})

async function addClip(clips: ClipStore, to: number, size = 1000): Promise<number> {
  const { name, handle } = await clips.createFile()
  await handle.write(Buffer.alloc(size))
  await handle.close()
  const fields = { channel_id: 5, event_ids: [1], from: to - 25_000, to, size, faults: [], lost_packets: 0 }
  return (await clips.add(name, fields))?.id ?? 0
}

// Conformance: C-27.82.
it('deletes the oldest clips beyond the limit of size', async () => {
  const { clips, folder } = await openClips({ AUDIO_EVIDENCE_MAX_GB: 0.00001 })
  const now = Date.now()
  const ids: number[] = []
  for (const age of [3000, 2000, 1000]) ids.push(await addClip(clips, now - age, 4000))
  expect((await clips.list()).map(({ id }) => id)).toEqual([ids[2], ids[1]])
  expect(await readdir(folder)).toHaveLength(2)
  expect(await addClip(clips, now, 20_000)).toBe(0)
  expect(await clips.list()).toHaveLength(2)
})

// Conformance: C-27.83.
it('never returns expired clips, and deletes them and files without a row', async () => {
  const { clips, values, folder } = await openClips()
  const now = Date.now()
  const old = await addClip(clips, now - 5 * 86_400_000)
  const young = await addClip(clips, now - 1000)
  values.AUDIO_EVIDENCE_DAYS = 2
  expect(await clips.find(old)).toBeUndefined()
  expect((await clips.list()).map(({ id }) => id)).toEqual([young])
  for (const [name, ageMs] of [
    ['0a.part', 300_000],
    ['0b.wav', 300_000],
    ['0c.part', 0],
  ] as const) {
    await writeFile(join(folder, name), 'x')
    await utimes(join(folder, name), new Date(now - ageMs), new Date(now - ageMs))
  }
  await clips.clean()
  const { file } = (await clips.find(young)) as { file: string }
  expect((await readdir(folder)).toSorted()).toEqual(['0c.part', file].toSorted())
})
