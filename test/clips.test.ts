/** Clips over the API: who may list, play and delete them. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Role, roles } from '../src/contract/values.ts'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startShure, type TestApp, until } from './support/app.ts'
import { addClip } from './support/clips.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'
import { addTones, tones } from './support/tones.ts'

const listenerHeaders = (app: TestApp, role: Role) => tokenHeaders(app, role, ['listen'])

describe.concurrent.each(engines)('/api/audio/clips/ on %s', (engine) => {
  const start = (config: object = { audio_evidence: true }) =>
    startApp({ engine, config: { require_login: true, ...config } })

  // Conformance: C-27.84.
  it('lists clips with their events, faults, losses and end of life, by channel and time', async () => {
    const app = await start()
    const headers = await listenerHeaders(app, 'viewer')
    const to = now() - 5000
    const older = await addClip(app, { to: to - 3_600_000 })
    const id = await addClip(app, { to })
    const other = await addClip(app, { channel: 6, to: to + 1000 })
    const list = async (query = '') =>
      (await app.get(`/api/audio/clips/${query}`, headers)).json.map((clip: { id: number }) => clip.id)
    expect(await list()).toEqual([other, id, older])
    expect(await list('?channel=5')).toEqual([id, older])
    expect(await list(`?from=${new Date(to - 60_000).toISOString()}`)).toEqual([other, id])
    expect(await list(`?to=${new Date(to - 60_000).toISOString()}`)).toEqual([older])
    expect(await app.get(`/api/audio/clips/${id}/`, headers)).toMatchObject({
      status: 200,
      json: {
        ...{ id, channel_id: 5, event_id: 7, event_ids: [7, 8], size: 96_044, faults: ['audio_dropout', 'hum'] },
        ...{ lost_packets: 3, from: new Date(to - 1000).toISOString(), to: new Date(to).toISOString() },
        expires_at: new Date(to + 14 * 86_400_000).toISOString(),
      },
    })
    expect((await app.get('/api/audio/clips/999/', headers)).status).toBe(404)
  })

  // Conformance: C-27.85.
  it('sends the sound, also in ranges, and audits each playback', async () => {
    const app = await start()
    const headers = await listenerHeaders(app, 'viewer')
    const id = await addClip(app)
    const path = `/api/audio/clips/${id}/audio.wav`
    const whole = await app.get(path, headers)
    expect(whole).toMatchObject({ status: 200, headers: { 'content-type': 'audio/wav', 'cache-control': 'no-store' } })
    expect(whole.bytes).toHaveLength(96_044)
    const part = await app.get(path, { ...headers, range: 'bytes=44-143' })
    expect(part).toMatchObject({ status: 206, headers: { 'content-range': 'bytes 44-143/96044' } })
    expect(Buffer.from(part.bytes)).toEqual(Buffer.from(whole.bytes).subarray(44, 144))
    expect(Buffer.from((await app.get(path, { ...headers, range: 'bytes=-4' })).bytes)).toHaveLength(4)
    expect((await app.get(path, { ...headers, range: 'bytes=99999-' })).status).toBe(200)
    const audit = (await app.get('/api/admin/audit/?action=clip.play', await tokenHeaders(app, 'admin'))).json
    expect(audit).toHaveLength(4)
    expect(audit[0]).toMatchObject({ target: `clip ${id}`, actor: { name: "a test's viewer" } })
  })

  // Conformance: C-27.120.
  it('returns the waveform in steps of 20 ms, without a playback in the audit log', async () => {
    const app = await start()
    const headers = await listenerHeaders(app, 'viewer')
    const id = await addClip(app)
    const { json } = await app.get(`/api/audio/clips/${id}/waveform/`, headers)
    // The samples count from 0 to 999 again and again, and a step has 960 of them.
    expect(json).toMatchObject({ step_ms: 20, peaks: { length: 50 } })
    expect(new Set(json.peaks)).toEqual(new Set([0.029, 0.03]))
    expect((await app.get('/api/admin/audit/?action=clip.play', await tokenHeaders(app, 'admin'))).json).toEqual([])
  })

  // Conformance: C-27.86.
  it('is for people and tokens with the permission listen only; deletion also needs an operator', async () => {
    const app = await start({ audio_evidence: true, public_read: true })
    const id = await addClip(app)
    const paths = ['', `${id}/`, `${id}/audio.wav`, `${id}/waveform/`].map((path) => `/api/audio/clips/${path}`)
    const others = await Promise.all(roles.map((role) => tokenHeaders(app, role)))
    for (const headers of [{}, ...others]) {
      for (const path of paths) expect((await app.get(path, headers)).status).toBe(403)
    }
    for (const path of paths.slice(0, 2)) {
      expect((await app.send('DELETE', path, { headers: await tokenHeaders(app, 'admin') })).status).toBe(403)
      expect((await app.send('DELETE', path, { headers: await listenerHeaders(app, 'viewer') })).status).toBe(403)
    }
    const operator = await listenerHeaders(app, 'operator')
    expect((await app.send('DELETE', `/api/audio/clips/${id}/`, { headers: operator })).status).toBe(204)
    expect((await app.get(`/api/audio/clips/${id}/audio.wav`, operator)).status).toBe(404)
    await addClip(app)
    await addClip(app)
    expect((await app.send('DELETE', '/api/audio/clips/', { headers: operator })).status).toBe(204)
    expect((await app.get('/api/audio/clips/', operator)).json).toEqual([])
    const audit = (await app.get('/api/admin/audit/?action=clip.delete', await tokenHeaders(app, 'admin'))).json
    expect(audit).toMatchObject([{ target: 'all clips', details: { clips: 2 } }, { target: `clip ${id}` }])
  })

  // Conformance: C-27.87.
  it('says how to switch evidence on while it is off, and still deletes', async () => {
    const app = await start({ listening: true })
    const headers = await listenerHeaders(app, 'operator')
    const id = await addClip(app)
    const refused = await app.get('/api/audio/clips/', headers)
    expect(refused.status).toBe(409)
    expect(JSON.stringify(refused.json)).toContain('audio_evidence')
    expect((await app.send('DELETE', `/api/audio/clips/${id}/`, { headers })).status).toBe(204)
  })

  // Conformance: C-27.88.
  it('never returns an expired clip', async () => {
    const app = await start()
    const headers = await listenerHeaders(app, 'viewer')
    const id = await addClip(app, { to: now() - 2 * 86_400_000 })
    expect((await app.get(`/api/audio/clips/${id}/`, headers)).status).toBe(200)
    const admin = await tokenHeaders(app, 'admin')
    const set = { key: 'AUDIO_EVIDENCE_DAYS', value: '1' }
    expect((await app.post('/api/config/', set, await tokenHeaders(app, 'operator'))).status).toBe(403)
    expect((await app.post('/api/config/', set, admin)).status).toBe(200)
    for (const path of [`/api/audio/clips/${id}/`, `/api/audio/clips/${id}/audio.wav`]) {
      expect((await app.get(path, headers)).status).toBe(404)
    }
    expect((await app.get('/api/audio/clips/', headers)).json).toEqual([])
  })

  // Conformance: C-27.83.
  it('deletes expired clips, the oldest beyond the limit, and their files', async () => {
    const app = await start()
    const headers = await listenerHeaders(app, 'viewer')
    const admin = await tokenHeaders(app, 'admin')
    const day = 86_400_000
    for (const age of [3 * day, 2000, 1000]) await addClip(app, { to: now() - age })
    const files = async () => (await readdir(join(app.dataDir, 'clips'))).length
    expect(await files()).toBe(3)
    await app.post('/api/config/', { key: 'AUDIO_EVIDENCE_DAYS', value: '2' }, admin)
    await app.service.clips.clean()
    expect(await files()).toBe(2)
    await app.post('/api/config/', { key: 'AUDIO_EVIDENCE_MAX_GB', value: '0.0001' }, admin)
    const newest = await addClip(app, { to: now() })
    expect(await files()).toBe(1)
    expect((await app.get('/api/audio/clips/', headers)).json).toMatchObject([{ id: newest }])
  })
})

describe.concurrent('evidence', () => {
  /** A service that holds the sound of a mapped channel: a tone. */
  async function startHeld(config: object) {
    const simulator = await startShure({ receivers: 1 })
    const app = await startApp({ manufacturers: [configFor(simulator)], config: { require_login: true, ...config } })
    const admin = await tokenHeaders(app, 'admin')
    const [{ channels }] = await until('the receiver is known', async () => {
      const { receivers } = (await app.get('/api/data.json', admin)).json
      return receivers.length > 0 && receivers
    })
    const id: number = channels[0].id
    const stream = await addTones(app, admin)
    expect((await app.put(`/api/channels/${id}/audio/`, { stream_id: stream, channel: 1 }, admin)).status).toBe(200)
    await app.post('/api/config/', { key: 'AUDIO_EVIDENCE_ALWAYS', value: 'true' }, admin)
    const mark = async () => (await app.post('/api/markers/', { channel_id: id, text: 'crackles' }, admin)).json.id
    return { app, admin, id, mark, headers: await listenerHeaders(app, 'operator') }
  }

  // Conformance: C-27.89, C-27.90.
  it('keeps the sound around a marker, and nothing from "Not now" on', async () => {
    const { app, admin, id, mark, headers } = await startHeld({ audio_evidence: true })
    await sleep(3000)
    const marker = await mark()
    await sleep(2500)
    expect((await app.put(`/api/channels/${id}/not-now/`, { not_now: true }, admin)).status).toBe(200)
    const switchedAt = now()
    const [clip] = await until('the clip is stored', async () => {
      const { json } = await app.get('/api/audio/clips/', headers)
      return json.length > 0 && json
    })
    expect(clip).toMatchObject({ channel_id: id, event_id: marker, event_ids: [marker] })
    expect(Date.parse(clip.to)).toBeLessThanOrEqual(switchedAt)
    const { bytes } = await app.get(`/api/audio/clips/${clip.id}/audio.wav`, headers)
    const file = Buffer.from(bytes)
    const samples = Array.from({ length: (file.length - 44) / 2 }, (_, i) => file.readInt16LE(44 + 2 * i))
    const seconds = samples.length / 48_000
    expect(seconds).toBeCloseTo((Date.parse(clip.to) - Date.parse(clip.from)) / 1000, 1)
    expect(Math.max(...samples.slice(0, 48_000))).toBeCloseTo(16_384, -2)
    const crossings = samples.filter((value, i) => value >= 0 && (samples[i - 1] ?? 0) < 0).length
    expect(Math.abs(crossings / seconds - (tones[0] ?? 0))).toBeLessThan(20)
    await mark()
    await sleep(2000)
    expect((await app.get('/api/audio/clips/', headers)).json).toHaveLength(1)
  })

  // Conformance: C-27.91.
  it('holds nothing while it is off in the configuration file', async () => {
    const { app, mark } = await startHeld({ listening: true })
    await mark()
    await sleep(1500)
    expect(await app.service.clips.list()).toEqual([])
    expect(app.service.audioStreams.list()[0]?.status.levels).toBeNull()
  })
})
