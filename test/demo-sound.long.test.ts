/** The sound of the demo, as a visitor on its machine gets it. */

import { expect, it } from 'vitest'
import { wavHeaderBytes, wavRate } from '../src/domain/audio/wav.ts'
import { createInstallation, until } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { listenOrThrow, refusalOf } from './support/listening-client.ts'

async function startDemo(env: Record<string, string> = {}) {
  const installation = await createInstallation({})
  return installation.serve(['--demo', '--receivers', '6'], env)
}

/** Opens a page, and returns the cookies of the session. */
async function visit(demo: Awaited<ReturnType<typeof startDemo>>) {
  const { status, headers } = await demo.get('/')
  expect(status).toBe(200)
  return { cookie: (headers['set-cookie'] ?? []).map((item) => item.split(';')[0]).join('; ') }
}

const peakOf = (samples: Int16Array) => samples.reduce((most, sample) => Math.max(most, sample), 0)

// Conformance: C-27.126.
it('signs a visitor in as demo, who may listen to four voices and play clips of the day', async () => {
  const demo = await startDemo()
  const url = `http://127.0.0.1:${demo.port}`
  const visitor = await visit(demo)
  const session = (await demo.get('/api/auth/session', visitor)).json
  expect(session).toMatchObject({ user: { username: 'demo' }, role: 'operator' })
  expect(session.permissions).toContain('listen')
  // A session is not opened again.
  expect((await demo.get('/', visitor)).headers['set-cookie']).toBeUndefined()
  const mappings = await until('four channels are mapped', async () => {
    const { json } = await demo.get('/api/audio/mappings/', visitor)
    return json.length === 4 && (json as { channel_id: number; label: string; label_changed: boolean }[])
  })
  expect(mappings.every(({ label, label_changed }) => label !== '' && !label_changed)).toBe(true)

  const query = `channel=${mappings[0]?.channel_id}`
  expect((await refusalOf(url, query)).status).toBe(403)
  const { frames } = await listenOrThrow(url, query, visitor)
  await eventually(() => Math.max(...frames.map(({ samples }) => peakOf(samples)))).toBeGreaterThan(3000)

  const clips = await until('the day has clips', async () => {
    const { json } = await demo.get('/api/audio/clips/', visitor)
    return json.length > 0 && (json as { id: number; event_id: number; from: string; channel_id: number }[])
  })
  const { results } = (await demo.get('/api/events/?kind=rf_dropout&limit=1000', visitor)).json
  for (const clip of clips) {
    expect(mappings.map(({ channel_id }) => channel_id)).toContain(clip.channel_id)
    const event = results.find(({ id }: { id: number }) => id === clip.event_id)
    const wav = (await demo.get(`/api/audio/clips/${clip.id}/audio.wav`, visitor)).bytes
    const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + wavHeaderBytes, wav.byteOffset + wav.length))
    expect(peakOf(samples.subarray(0, 5 * wavRate))).toBeGreaterThan(3000)
    const [start, end] = [event.time, event.until].map((at) =>
      Math.round(((Date.parse(at) - Date.parse(clip.from)) * wavRate) / 1000),
    )
    // The simulated receiver mutes below -95 dBm.
    if (event.data.lowest_dbm < -96) expect(samples.subarray(start, end).indexOf(0)).toBeGreaterThan(-1)
  }
  expect(demo.err()).toBe('')
})

// Conformance: C-27.126.
it('starts without sound if UDP is refused', async () => {
  const refuse = `import dgram from 'node:dgram'
    import { syncBuiltinESMExports } from 'node:module'
    import { isMainThread } from 'node:worker_threads'
    if (!isMainThread) dgram.createSocket = () => { throw new Error('UDP is refused') }
    syncBuiltinESMExports()`
  const demo = await startDemo({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}` })
  await until('it says so', () => demo.err().includes('the demo has no sound'))
  expect(demo.err()).toContain('UDP is refused')
  const visitor = await visit(demo)
  await until('the receivers are listed', async () => (await demo.receivers()).length === 6)
  expect((await demo.get('/api/audio/mappings/', visitor)).json).toEqual([])
})
