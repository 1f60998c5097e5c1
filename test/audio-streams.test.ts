/** Audio streams through the service, over real sockets. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StreamSender, type StreamSenderOptions, tone } from '../simulators/audio/stream-sender.ts'
import type { AudioFrame } from '../src/audio/audio-streams.ts'
import { sapPort, writeSap } from '../src/domain/audio/sap.ts'
import { now } from '../src/platform/clock.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { findProgram } from './support/debian-package.ts'
import { createTestFolder } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

const streams = '/api/audio/streams/'
const config = { audio: { interfaces: ['127.0.0.1'] }, listening: true }
let lastPort = 10_000 + (process.pid % 10_000)

async function openSender(options: Partial<StreamSenderOptions> = {}): Promise<StreamSender> {
  const port = ++lastPort
  const sender = await StreamSender.open({ address: `239.69.${port >> 8}.${port & 255}`, port, ...options })
  onTestEnd(() => sender.close())
  return sender
}

async function add(app: TestApp, sender: StreamSender): Promise<number> {
  const { status, json } = await app.post(streams, { sdp: sender.sdp }, await tokenHeaders(app, 'admin'))
  expect([status, json]).toMatchObject([201, { source: 'manual' }])
  return json.id
}

const read = async (app: TestApp, id: number) => (await app.get(`${streams}${id}/`)).json

/** Collects frames until there are enough. */
async function listen(app: TestApp, id: number, channel: number, count: number, rate: 48_000 | 24_000 = 48_000) {
  const frames: AudioFrame[] = []
  const end = app.service.audioStreams.listen(id, channel, rate, {
    onFrame: (frame) => frames.push(frame),
    onEnd: (reason) => expect.fail(reason),
  })
  await until('the frames have arrived', () => frames.length >= count)
  end()
  return frames
}

/** The level of a frequency in dBFS. */
function levelOf(samples: readonly number[], hz: number, rate: number): number {
  let [real, imaginary, weight] = [0, 0, 0]
  for (const [i, sample] of samples.entries()) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / samples.length)
    real += window * sample * Math.cos((2 * Math.PI * hz * i) / rate)
    imaginary += window * sample * Math.sin((2 * Math.PI * hz * i) / rate)
    weight += window
  }
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / weight / 32_768)
}

async function createFolder(): Promise<string> {
  const { path, drop } = await createTestFolder()
  onTestEnd(drop)
  return path
}

function spawnChild(program: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore'] })
  const ended = once(child, 'close')
  onTestEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return child
}

// Conformance: C-27.17.
describe.each(['sqlite', 'postgres'] as const)('the list of streams on %s', (engine) => {
  it('is edited by administrators, survives a restart, and names a wrong field', async () => {
    const app = await startApp({ engine, config })
    const [admin, operator] = [await tokenHeaders(app, 'admin'), await tokenHeaders(app, 'operator')]
    const fields = {
      name: 'Stage',
      source: 'manual',
      address: '239.1.2.3',
      port: 5004,
      encoding: 'L24',
      sample_rate: 48_000,
      channels: 8,
    }
    expect((await app.post(streams, fields, operator)).status).toBe(403)
    const added = await app.post(streams, fields, admin)
    expect([added.status, added.json]).toMatchObject([
      201,
      { ...fields, labels: [], interface: null, enabled: true, announced: true },
    ])
    expect(added.json.status).toEqual({
      ...{
        packets: 0,
        lost: 0,
        reordered: 0,
        restarts: 0,
        jitter_ms: 0,
        last_packet_age: null,
        levels: null,
        error: null,
      },
    })
    for (const [change, details] of [
      [{ address: '300.1.1.1' }, 'address: expected an IPv4 address'],
      [{ port: 0 }, 'port: expected a whole number from 1 to 65535'],
      [{ encoding: 'OPUS' }, 'encoding: expected one of L16, L24'],
      [{ sample_rate: 8000 }, 'sample_rate: expected one of 44100, 48000, 88200, 96000'],
      [{ channels: 65 }, 'channels: expected a whole number from 1 to 64'],
      [{ name: undefined }, 'name: missing'],
      [{ sdp: 'v=0\r\n' }, 'sdp: there is no line m=audio'],
      [{ sdp: `v=0\r\n${'a=x\r\n'.repeat(4000)}` }, 'sdp: expected at most 16 KiB'],
    ] as const) {
      const { status, json } = await app.post(streams, { ...fields, ...change }, admin)
      expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
    }
    const address = `${streams}${added.json.id}/`
    const changed = await app.send('PATCH', address, {
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Left', enabled: false }),
    })
    expect(changed.json).toMatchObject({ name: 'Left', enabled: false })
    const { databaseUrl, dataDir } = app
    await app.close()
    const next = await startApp({ engine, config, databaseUrl, dataDir })
    expect((await next.get(streams)).json).toMatchObject([
      { ...fields, name: 'Left', enabled: false, id: added.json.id },
    ])
    const headers = await tokenHeaders(next, 'admin')
    expect((await next.send('DELETE', address, { headers })).status).toBe(204)
    expect((await next.get(address)).status).toBe(404)
  })
})

// Conformance: C-27.18.
it('is received by one process, and others name it', async () => {
  const first = await startApp({ config })
  expect((await first.get(streams)).status).toBe(200)
  const second = await startApp({ config, databaseUrl: first.databaseUrl, dataDir: first.dataDir })
  const { status, json } = await second.get(streams)
  expect([status, json.error]).toEqual([503, `Audio is received by the process ${first.service.nodeId}.`])
})

// Conformance: C-27.19.
it('joins a stream for its levels, counts what the network did, and leaves it', async () => {
  const app = await startApp({ config })
  const drops = (packet: number) => packet % 100 === 50
  const signal = (frame: number, channel: number, rate: number) =>
    tone(997, channel === 0 ? 1 : 0.1)(frame, channel, rate)
  const sender = await openSender({ signal, drops, duplicates: 0.05, reordering: 0.02 })
  sender.start()
  const id = await add(app, sender)
  expect((await app.get(streams)).json).toMatchObject([{ status: { levels: null, packets: 0 } }])
  await until('levels are measured', async () => (await read(app, id)).status.packets > 1500)
  const { status } = await read(app, id)
  expect(status.levels).toEqual([0, expect.closeTo(-20, 0)])
  expect(status).toMatchObject({ error: null, restarts: 0 })
  expect(status.lost / status.packets).toBeGreaterThan(0.005)
  expect(status.lost / status.packets).toBeLessThan(0.02)
  expect(status.reordered).toBeGreaterThan(10)
  expect(status.last_packet_age).toBeLessThan(timeLimit(1000) / 1000)
  const readAt = performance.now()
  await until('the stream is left', async () => (await app.get(streams)).json[0].status.levels === null)
  expect(performance.now() - readAt).toBeGreaterThan(8000)
}, 40_000)

// Conformance: C-27.9, C-27.20.
it('passes samples of 16 bits at 48 kHz unchanged, in frames of 20 ms with their times', async () => {
  const app = await startApp({ config })
  const value = (frame: number) => ((frame * 7919) % 65_536) - 32_768
  const sender = await openSender({
    encoding: 'L16',
    channels: 3,
    signal: (frame, channel) => (channel === 1 ? value(frame) / 32_768 : 0),
  })
  sender.start()
  const id = await add(app, sender)
  const frames = await listen(app, id, 2, 25)
  const samples = frames.flatMap((frame) => [...frame.samples])
  expect(frames.every((frame) => frame.samples.length === 960)).toBe(true)
  expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index))
  const start = Array.from({ length: 65_536 }, (_, frame) => frame).find((frame) => value(frame) === samples[0]) ?? -1
  expect(samples).toEqual(samples.map((_, index) => value(start + index)))
  const intervals = frames.slice(1).map(({ at }, index) => at - (frames[index]?.at ?? 0))
  for (const interval of intervals) expect(Math.abs(interval - 20)).toBeLessThan(timeLimit(5))
  expect(Math.abs((frames.at(-1)?.at ?? 0) - now())).toBeLessThan(timeLimit(2000))
})

// Conformance: C-27.21.
it('delivers every rate at 48 or 24 kHz', async () => {
  const app = await startApp({ config })
  for (const [rate, to] of [
    [44_100, 48_000],
    [96_000, 24_000],
  ] as const) {
    const sender = await openSender({ rate, channels: 1, ptime: 1, signal: tone(997, 0.5) })
    sender.start()
    const frames = await listen(app, await add(app, sender), 1, 30, to)
    expect(frames.every((frame) => frame.samples.length === to / 50)).toBe(true)
    const samples = frames.slice(10).flatMap((frame) => [...frame.samples])
    expect(levelOf(samples, 997, to)).toBeCloseTo(-6.02, 0)
  }
})

// Conformance: C-27.13.
it('holds the last seconds of a channel with what was lost, and forgets them', async () => {
  const app = await startApp({ config })
  const sender = await openSender({
    channels: 1,
    signal: tone(997),
    drops: (packet) => packet % 500 >= 400 && packet % 500 < 404,
  })
  sender.start()
  const held = app.service.audioStreams.hold(await add(app, sender), 1)
  const all = () => held.read(0, now() + 60_000)
  await until('two seconds are held', async () => ((await all())?.samples.length ?? 0) > 96_000)
  const audio = await all()
  expect(audio?.lost.length).toBeGreaterThan(0)
  for (const { from, to } of audio?.lost ?? []) {
    expect(to - from).toBe(4 * 48)
    expect(audio?.samples.subarray(from, to).every((sample) => sample === 0)).toBe(true)
  }
  held.discard()
  expect((await all())?.samples.length ?? 0).toBeLessThan(48_000)
  held.release()
  await until('nothing is held', async () => (await all()) === null)
})

// Conformance: C-27.5.
it('follows a sender that restarts, and says what has changed in one that changes its format', async () => {
  const app = await startApp({ config })
  const sender = await openSender({ channels: 2 })
  sender.start()
  const id = await add(app, sender)
  await until('packets arrive', async () => (await read(app, id)).status.packets > 100)
  sender.stop()
  sender.restart()
  await new Promise((resolve) => setTimeout(resolve, 700))
  sender.start()
  await until('the restart is counted', async () => (await read(app, id)).status.restarts === 1)
  await sender.close()
  const changed = await openSender({ ...sender.target, channels: 5, payloadType: 98, ssrc: 99 })
  changed.start()
  await until('the change is named', async () =>
    /The format has changed|no multiple of 6/.test((await read(app, id)).status.error ?? ''),
  )
}, 20_000)

// Conformance: C-27.106.
it('names a stream that changes its format in the middle, and leaves the others untouched', async () => {
  const app = await startApp({ config })
  const [first, other] = [await openSender({ channels: 2 }), await openSender({ channels: 1 })]
  first.start()
  other.start()
  const [id, otherId] = [await add(app, first), await add(app, other)]
  const collect = (stream: number) => {
    const frames: AudioFrame[] = []
    const onEnd = (reason: string) => expect.fail(reason)
    onTestEnd(app.service.audioStreams.listen(stream, 1, 48_000, { onFrame: (frame) => frames.push(frame), onEnd }))
    return frames
  }
  const [frames, otherFrames] = [collect(id), collect(otherId)]
  await until('both play', () => frames.length > 25 && otherFrames.length > 25)
  const error = async (stream: number) => (await read(app, stream)).status.error
  first.stop()
  for (const [format, problem] of [
    [{ rate: 44_100, encoding: 'L16', channels: 1 }, /no multiple of 6/],
    [{ channels: 4 }, /The format has changed/],
    [{ payloadType: 99 }, /payload type 99 instead of 98/],
  ] as const) {
    const changed = await openSender({ ...first.target, channels: 2, ...format })
    changed.start()
    await until(`it is named: ${problem}`, async () => problem.test((await error(id)) ?? ''))
    await changed.close()
  }
  const count = frames.length
  first.start()
  await until('the stream plays again', async () => frames.length > count + 25 && (await error(id)) === null)
  expect(await error(otherId)).toBeNull()
  expect((await read(app, otherId)).status).toMatchObject({ lost: 0, restarts: 0 })
  expect(otherFrames.map(({ sequence }) => sequence)).toEqual(otherFrames.map((_, index) => index))
}, 30_000)

// Conformance: C-27.22.
it('lists announced streams, updates and removes them with their announcements', async () => {
  const app = await startApp({ config })
  const sender = await openSender({ name: 'Stagebox : 3', labels: ['Lead', 'Guitar'] })
  sender.announce()
  const list = async () => (await app.get(streams)).json
  await until('it is listed', async () => (await list()).length === 1)
  const [stream] = await list()
  expect(stream).toMatchObject({
    name: 'Stagebox : 3',
    source: 'sap',
    labels: ['Lead', 'Guitar'],
    channels: 2,
    interface: '127.0.0.1',
    announced: true,
  })
  sender.start()
  const end = app.service.audioStreams.listen(stream.id, 1, 48_000, { onFrame() {}, onEnd() {} })
  sender.withdraw()
  await until('it is no longer announced', async () => (await list())[0]?.announced === false)
  end()
  await until('it is removed', async () => (await list()).length === 0)
})

// Conformance: C-27.23.
it('survives a flood of announcements, and keeps what was entered and what is in use', async () => {
  const app = await startApp({ config })
  const sender = await openSender()
  const entered = await add(app, sender)
  const socket = createSocket('udp4')
  onTestEnd(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setMulticastInterface('127.0.0.1')
  let number = 0
  const flood = setInterval(() => {
    for (let packet = 0; packet < 20; packet++) {
      number++
      const sdp = sender.sdp.replace(/o=- \d+/, `o=- ${number}`)
      socket.send(writeSap(Buffer.from(sdp), '127.0.0.1', number), sapPort, '239.255.255.255')
      socket.send(Buffer.from([0x20, 1, 2, 3, number & 255]), sapPort, '239.255.255.255')
    }
  }, 10)
  await new Promise((resolve) => setTimeout(resolve, 4000))
  clearInterval(flood)
  const list = (await app.get(streams)).json
  expect(number).toBeGreaterThan(2000)
  expect(list.length).toBeGreaterThan(50)
  expect(list.length).toBeLessThanOrEqual(501)
  expect(list[0]).toMatchObject({ id: entered, source: 'manual' })
  await until('the flood is named', async () => (await app.get('/api/audio/search/')).json.discarded > 1000)
}, 20_000)

// Conformance: C-27.115.
it('names announcements that cannot be used, by their sender', async () => {
  const app = await startApp({ config })
  const socket = createSocket('udp4')
  onTestEnd(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setMulticastInterface('127.0.0.1')
  const sender = await openSender()
  const opus = sender.sdp.replace('L24/48000/2', 'opus/48000/2')
  const problems = async () => (await app.get('/api/audio/search/')).json.problems
  await until('both are named', async () => {
    socket.send(Buffer.from([0x20, 1, 2, 3, 4]), sapPort, '239.255.255.255')
    socket.send(writeSap(Buffer.from(opus), '127.0.0.1', 7), sapPort, '239.255.255.255')
    return (await problems()).length === 2
  })
  const errors = (await problems()).map(({ source, address, error }: Record<string, string>) => {
    return [source, address, error]
  })
  expect(errors.sort()).toEqual([
    ['sap', '127.0.0.1', 'The announcement is encrypted, damaged or no description of a stream (SAP).'],
    ['sap', '127.0.0.1', expect.stringMatching(/^The description \(SDP\) cannot be used: line \d+: .+\.$/)],
  ])
  expect((await app.get(streams)).json).toEqual([])
})

// Conformance: C-27.116.
it('names a second sender that uses the address of a stream', async () => {
  const app = await startApp({ config })
  const sender = await openSender()
  const id = await add(app, sender)
  sender.start()
  await until('packets arrive', async () => (await read(app, id)).status.packets > 100)
  expect((await read(app, id)).status.error).toBe(null)
  const second = await openSender({ ...sender.target, ssrc: 7 })
  second.start()
  await until('it is named', async () => /^A second sender uses/.test((await read(app, id)).status.error ?? ''))
  expect((await read(app, id)).status.restarts).toBe(0)
})

// Conformance: C-27.24.
it('receives the sound of programs, names those that fail, and ends them when they are not needed', async () => {
  const folder = await createFolder()
  const script = join(folder, 'tone.mjs')
  await writeFile(
    script,
    `let frame = 0
    const write = () => {
      const bytes = Buffer.alloc(4801 * 4)
      for (let i = 0; i + 4 <= bytes.length; i += 4, frame++) bytes.writeInt16LE(Math.round(16384 * Math.sin(2 * Math.PI * 997 * frame / 48000)), i + 2)
      process.stdout.write(bytes.subarray(0, 1001)), process.stdout.write(bytes.subarray(1001), write)
    }
    write()`,
  )
  const format = { format: 's16le', rate: 48_000, channels: 2 }
  const commands = [
    { name: 'Sound card', argv: [process.execPath, script], ...format },
    { name: 'Missing', argv: ['/no/such/program', '$(touch /tmp/x)'], ...format },
    { name: 'Failing', argv: [process.execPath, '-e', 'console.error("no device"); process.exit(3)'], ...format },
  ]
  const app = await startApp({ config: { audio: { interfaces: ['127.0.0.1'], commands }, listening: true } })
  const list = (await app.get(streams)).json
  expect(list).toMatchObject(commands.map(({ name }) => ({ name, source: 'command', address: null, port: null })))
  const [card, missing, failing] = list.map(({ id }: { id: number }) => id)
  const error = async (id: number) => (await read(app, id)).status.error
  await until(
    'the missing program is named',
    async () => (await error(missing)) === 'The program /no/such/program does not exist.',
  )
  await until(
    'the cause is named',
    async () => (await error(failing)) === `The program ${process.execPath} ended with code 3: no device.`,
  )
  const frames = await listen(app, card, 2, 60)
  expect(
    levelOf(
      frames.slice(5).flatMap((frame) => [...frame.samples]),
      997,
      48_000,
    ),
  ).toBeCloseTo(-6.02, 1)
  const span = (frames[59]?.at ?? 0) - (frames[0]?.at ?? 0)
  expect(span).toBeGreaterThan(1000)
  expect(span).toBeLessThan(1400)
}, 20_000)

// Conformance: C-27.107.
it('plays a program that never stops at its speed, in bounded memory, and kills it if it ignores the request', async () => {
  const folder = await createFolder()
  const [script, pidFile] = [join(folder, 'endless.mjs'), join(folder, 'pid')]
  await writeFile(
    script,
    `import { writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
    process.on('SIGTERM', () => {})
    const bytes = Buffer.alloc(65536, 1)
    const write = () => process.stdout.write(bytes, write)
    process.stdout.on('error', () => {})
    setInterval(() => {}, 1000)
    write()`,
  )
  const command = { name: 'Endless', argv: [process.execPath, script], format: 's16le', rate: 48_000, channels: 1 }
  const app = await startApp({ config: { audio: { interfaces: ['127.0.0.1'], commands: [command] }, listening: true } })
  const [{ id }] = (await app.get(streams)).json
  await listen(app, id, 1, 25)
  const before = process.memoryUsage.rss()
  const frames = await listen(app, id, 1, 100)
  // A second of it would fill hundreds of megabytes.
  expect(process.memoryUsage.rss() - before).toBeLessThan(150e6)
  const span = (frames[99]?.at ?? 0) - (frames[0]?.at ?? 0)
  expect(span).toBeGreaterThan(1700)
  expect(span).toBeLessThan(2300)
  const pid = Number(await readFile(pidFile, 'utf8'))
  const isRunning = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  expect(isRunning()).toBe(true)
  await app.close()
  await until('the program has ended', () => !isRunning())
}, 30_000)

// Conformance: C-27.25.
describe('with ffmpeg', () => {
  const samplesOf = (frames: readonly AudioFrame[]) => frames.flatMap((frame) => [...frame.samples])

  it('receives what it sends, in packets of various lengths and in bursts', async () => {
    const ffmpeg = await findProgram('ffmpeg', 'ffmpeg')
    const app = await startApp({ config })
    const port = 2 * ++lastPort
    const args = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'sine=frequency=997:sample_rate=48000', '-ac', '2']
    spawnChild(ffmpeg, [...args, '-c:a', 'pcm_s24be', '-f', 'rtp', `rtp://127.0.0.1:${port}`])
    const fields = { name: 'ffmpeg', address: '127.0.0.1', port, encoding: 'L24', sample_rate: 48_000, channels: 2 }
    const { json } = await app.post(streams, fields, await tokenHeaders(app, 'admin'))
    const frames = await listen(app, json.id, 1, 60)
    expect(levelOf(samplesOf(frames.slice(10)), 997, 48_000)).toBeCloseTo(-21.07, 0)
    expect((await read(app, json.id)).status).toMatchObject({ error: null, lost: 0 })
  }, 30_000)

  it('delivers what the simulator sends', async () => {
    const ffmpeg = await findProgram('ffmpeg', 'ffmpeg')
    const port = 2 * ++lastPort
    const sender = await openSender({ address: '127.0.0.1', port, channels: 8, signal: tone(997, 0.5) })
    const folder = await createFolder()
    await writeFile(join(folder, 'stream.sdp'), sender.sdp)
    sender.start()
    const output = join(folder, 'output.raw')
    const input = ['-v', 'error', '-protocol_whitelist', 'file,udp,rtp', '-i', join(folder, 'stream.sdp'), '-t', '1']
    await once(spawnChild(ffmpeg, [...input, '-af', 'pan=mono|c0=c7', '-f', 's16le', output]), 'close')
    const bytes = await readFile(output)
    const received = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index))
    expect(received.length).toBeGreaterThan(40_000)
    expect(levelOf(received.slice(-24_000), 997, 48_000)).toBeCloseTo(-6.02, 0)
  }, 30_000)
})
