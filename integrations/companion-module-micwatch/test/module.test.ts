/** The built package in a host of Companion's published interface, with a running Micwatch. */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { InstanceStatus } from '@companion-module/base'
import WebSocket from 'ws'
import { buttonColors } from '../src/colors.ts'
import { onEnd } from './ends.ts'
import { checkPresets, TestHost } from './host.ts'
import { type Json, type Micwatch, startMicwatch, startSimulator } from './micwatch.ts'
import { until } from './until.ts'

const { default: Module } = await import(new URL('../pkg/micwatch/main.js', import.meta.url).href)

async function startModule(config: object, secrets: object): Promise<TestHost> {
  const host = new TestHost(Module)
  await host.init({ levels: '5', ...config }, secrets)
  onEnd(() => host.destroy())
  return host
}

async function startAll() {
  const simulator = await startSimulator({ receivers: 2, channelsPerReceiver: 2 })
  const setPack = (change: object) => simulator.show.set(simulator.deviceIds[0] ?? '', change, 1)
  setPack({ name: 'Zoe', battery: 61, rf_level: -47, transmitter: true })
  const micwatch = await startMicwatch(simulator, { listening: true })
  await until('Micwatch knows all channels', async () => (await channelsOf(micwatch)).length === 4)
  const { token } = await micwatch.createToken('Stream Deck', 'operator')
  const channel = await until('Micwatch knows the pack', async () =>
    (await channelsOf(micwatch)).find(({ transmitter }) => transmitter?.name === 'Zoe' && transmitter.battery === 61),
  )
  return { micwatch, token, setPack, slot: Number(channel.slot), channelId: Number(channel.id) }
}

async function channelsOf(micwatch: Micwatch): Promise<Json[]> {
  const { receivers } = await micwatch.get('/api/data.json')
  return receivers.flatMap(({ channels }: { channels: Json[] }) => channels)
}

describe('with a running Micwatch', () => {
  let all: Awaited<ReturnType<typeof startAll>>
  let host: TestHost
  before(async () => {
    all = await startAll()
    host = await startModule({ url: all.micwatch.url }, { token: all.token })
    await host.statusIs(InstanceStatus.Ok)
    await host.valueIs(`ch_${all.slot}_name`, 'Zoe')
  })

  const openAlert = () =>
    until('an alert is open', async () => (await all.micwatch.get('/api/alerts/?state=open'))[0] ?? null)
  const stateOfAlert = async (id: number) =>
    (await all.micwatch.get('/api/alerts/')).find((alert: { id: number }) => alert.id === id)?.state

  it('connects', () => {
    assert.deepEqual(
      host.statuses.map(({ status }) => status),
      [InstanceStatus.Connecting, InstanceStatus.Ok],
    )
    assert.deepEqual(host.configFieldIds(), ['url', 'acceptAnyCertificate', 'token', 'group', 'levels'])
  })

  // Conformance: C-16.111.
  it('sets the variables of every slot to what Micwatch shows', async () => {
    for (const { slot, name, transmitter, frequency, condition } of await channelsOf(all.micwatch)) {
      await host.valueIs(`ch_${slot}_name`, transmitter?.name ?? name)
      await host.valueIs(`ch_${slot}_frequency`, `${frequency} MHz`)
      await host.valueIs(`ch_${slot}_battery_charge`, transmitter === null ? 'Unknown' : `${transmitter.battery}%`)
      await host.valueIs(`ch_${slot}_state`, condition.state)
    }
    const { slot } = all
    await host.valueIs(`ch_${slot}_rf_level`, '-47 dBm')
    await host.valueIs(`ch_${slot}_rf_level_dbm`, -47)
    await host.valueIs(`ch_${slot}_battery_bars`, 4)
    await host.valueIs(`slot_${slot}-01_battery_charge`, '61%')
    const { channels, transmitters_on, attention } = await all.micwatch.get('/api/summary/')
    await host.valueIs('channel_count', channels)
    await host.valueIs('tx_on_count', transmitters_on)
    await host.valueIs('attention_count', attention)
    await host.valueIs('connection', 'online')
  })

  // Conformance: C-16.112.
  it('changes feedbacks while the battery of a pack drains and dies', async () => {
    const channel = { channel: all.slot }
    const [status, low, critical, bars, off, attention, anyAttention] = await Promise.all([
      host.place('channel_status', channel),
      host.place('battery_low', channel),
      host.place('battery_critical', channel),
      host.place('battery_level', { ...channel, barlevel: 2 }),
      host.place('transmitter_turned_off', channel),
      host.place('attention', channel),
      host.place('attention_any'),
    ])
    const values = () => [low(), critical(), bars(), off(), attention(), anyAttention()]
    const bgcolor = () => JSON.parse(JSON.stringify(status())).bgcolor
    assert.deepEqual(values(), [false, false, false, false, false, false])
    all.setPack({ battery: 18 })
    await until('the battery is low', () => bgcolor() === buttonColors.warning.bgcolor)
    assert.deepEqual(values(), [true, false, true, false, true, true])
    await host.valueIs(`ch_${all.slot}_status`, 'Battery low')
    all.setPack({ battery: 8 })
    await until('the battery is critical', () => bgcolor() === buttonColors.critical.bgcolor)
    assert.deepEqual(values(), [true, true, true, false, true, true])
    await host.valueIs('battery_critical_count', 1)
    all.setPack({ transmitter: false })
    await host.valueIs(`ch_${all.slot}_state`, 'battery_died')
    await until('the transmitter is off', () => off() === true)
    await host.valueIs(`ch_${all.slot}_battery_charge`, 'Unknown')
    assert.equal(host.values.get(`ch_${all.slot}_battery_percent`), undefined)
    all.setPack({ transmitter: true, battery: 95 })
    await host.valueIs(`ch_${all.slot}_state`, 'ok')
    await until('all feedbacks are off', () => values().every((value) => value === false))
  })

  // Conformance: C-16.114.
  it('acknowledges and snoozes alerts under the name of the token', async () => {
    all.setPack({ battery: 9 })
    const { id, message } = await openAlert()
    await host.valueIs('alert_latest', message)
    await host.press('snooze_channel', { channel: all.slot, minutes: 10 })
    assert.equal(await stateOfAlert(id), 'snoozed')
    all.setPack({ battery: 95 })
    await host.valueIs(`ch_${all.slot}_state`, 'ok')
    all.setPack({ battery: 9 })
    const next = await openAlert()
    await host.valueIs('alert_count', 1)
    await host.press('acknowledge_latest', { note: 'on it' })
    const alerts = await all.micwatch.get('/api/alerts/')
    const acknowledged = alerts.find((alert: { id: number }) => alert.id === next.id)
    assert.equal(acknowledged.state, 'acknowledged')
    assert.equal(acknowledged.note, 'on it')
    assert.equal(acknowledged.acknowledged_by, 'Stream Deck')
    await host.valueIs('alert_count', 0)
    all.setPack({ battery: 95 })
    await host.valueIs(`ch_${all.slot}_state`, 'ok')
  })

  // Conformance: C-16.114.
  it('adds a marker', async () => {
    await host.press('marker', { text: 'Cue 12' })
    const { results } = await all.micwatch.get('/api/events/?kind=marker')
    assert.deepEqual([results[0].text, results[0].by], ['Cue 12', 'Stream Deck'])
    await assert.rejects(host.press('marker', { text: ' ' }), /needs a text/)
  })

  // Conformance: C-27.101.
  it('sets and ends "Not now" for the channel of a slot', async () => {
    const { slot } = all
    const notNow = await host.place('not_now', { channel: slot })
    const set = (change: string) => host.press('not_now', { channel: slot, change })
    await set('on')
    await host.valueIs(`ch_${slot}_not_now`, true)
    await until('the feedback is on', () => notNow() === true)
    const channel = (await channelsOf(all.micwatch)).find((one) => one.slot === slot)
    assert.equal(channel.not_now.by, 'Stream Deck')
    await set('toggle')
    await host.valueIs(`ch_${slot}_not_now`, false)
    await set('off')
    await until('the feedback is off', () => notNow() === false)
    await assert.rejects(host.press('not_now', { channel: 9999, change: 'on' }), /There is no slot 9999/)
  })

  // Conformance: C-27.100.
  it('says who listens to a channel', async () => {
    const { micwatch, slot, channelId } = all
    const listened = await host.place('listened', { channel: slot })
    await host.valueIs('listener_count', 0)
    const sound = { address: '239.69.1.1', port: 5004, encoding: 'L24', sample_rate: 48_000, channels: 2 }
    const stream = await micwatch.post('/api/audio/streams/', { name: 'Stage', source: 'manual', ...sound })
    await micwatch.put(`/api/channels/${channelId}/audio/`, { stream_id: stream.id, channel: 1 })
    const person = { name: 'Ana', role: 'viewer', permissions: ['listen'] }
    const { token } = await micwatch.post('/api/admin/tokens/', person)
    const socket = new WebSocket(`${micwatch.url.replace('http', 'ws')}/api/audio/listen?channel=${channelId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    onEnd(async () => socket.terminate())
    await host.valueIs(`ch_${slot}_listeners`, 'Ana')
    await host.valueIs('listeners', `Ana: ${host.values.get(`ch_${slot}_name`)}`)
    await until('the feedback is on', () => listened() === true)
    socket.close()
    await host.valueIs(`ch_${slot}_listeners`, '')
    await host.valueIs('listener_count', 0)
    await until('the feedback is off', () => listened() === false)
  })

  // Conformance: C-16.114.
  it('starts and ends shows by title, or the only one', async () => {
    await assert.rejects(host.press('start_show', { show: '' }), /There are 0 planned shows/)
    const gala = await all.micwatch.post('/api/shows/', { title: 'Gala' })
    const matinee = await all.micwatch.post('/api/shows/', { title: 'Matinee' })
    const stateOf = async ({ id }: { id: number }) => (await all.micwatch.get(`/api/shows/${id}/`)).state
    await assert.rejects(host.press('start_show', { show: '' }), /There are 2 planned shows/)
    await assert.rejects(host.press('start_show', { show: 'Opera' }), /There is no planned show "Opera"/)
    const running = await host.place('show_running')
    await host.press('start_show', { show: 'Gala' })
    assert.equal(await stateOf(gala), 'running')
    await host.valueIs('show_title', 'Gala')
    await until('the feedback is on', () => running() === true)
    await host.press('end_show', { show: '' })
    assert.equal(await stateOf(gala), 'ended')
    await host.press('start_show', { show: '' })
    assert.equal(await stateOf(matinee), 'running')
    await host.press('end_show', { show: String(matinee.id) })
    await host.valueIs('show_running', false)
    await until('the feedback is off', () => running() === false)
  })

  // Conformance: C-16.113.
  it('offers presets for all channels and for each group, with valid actions, feedbacks and variables', async () => {
    const group = await all.micwatch.post('/api/group/', { title: 'Choir', slots: [all.slot] })
    await until('the group has presets', () => host.sections[0]?.definitions.length === 2)
    const listed = checkPresets(host)
    assert.equal(listed.filter((id) => id === `channel_${all.slot}`).length, 2)
    for (const id of ['attention_count', 'acknowledge_latest', 'marker', 'start_show', 'end_show'])
      assert.ok(listed.includes(id))
    const limited = await startModule({ url: all.micwatch.url, group: 'Choir' }, { token: all.token })
    await limited.statusIs(InstanceStatus.Ok)
    await limited.valueIs('channel_count', 1)
    await limited.configUpdated({ url: all.micwatch.url, group: String(group.id) }, { token: all.token })
    await limited.statusIs(InstanceStatus.Ok)
    await limited.configUpdated({ url: all.micwatch.url, group: 'Band' }, { token: all.token })
    await limited.statusIs(InstanceStatus.BadConfig)
    assert.equal(limited.status()?.message, 'There is no group "Band". There are: Choir.')
    await limited.valueIs('channel_count', 'offline')
  })

  // Conformance: C-16.117.
  it('says which credentials are missing or wrong, and connects when they are right', async () => {
    const other = await startModule({ url: all.micwatch.url }, {})
    await other.statusIs(InstanceStatus.AuthenticationFailure)
    assert.match(other.status()?.message ?? '', /requires a token/)
    await other.configUpdated({ url: all.micwatch.url }, { token: 'mw_wrong' })
    await until('the token is rejected', () => /does not accept the token/.test(other.status()?.message ?? ''))
    await other.valueIs('attention_count', 'offline')
    const viewer = await all.micwatch.createToken('Viewer', 'viewer')
    await other.configUpdated({ url: all.micwatch.url }, { token: viewer.token })
    await other.statusIs(InstanceStatus.Ok)
    await assert.rejects(other.press('marker', { text: 'x' }), /Actions need a token with the role operator/)
    await other.configUpdated({ url: '' }, { token: viewer.token })
    await other.statusIs(InstanceStatus.BadConfig)
    await other.valueIs('connection', 'offline')
    await other.configUpdated({ url: 'http://127.0.0.1:9' }, {})
    await other.statusIs(InstanceStatus.ConnectionFailure)
    assert.match(
      other.status()?.message ?? '',
      /^Connection refused by 127\.0\.0\.1:9\. Check that Micwatch is running/,
    )
  })

  // Conformance: C-16.115.
  it('shows everything as offline when Micwatch is stopped, and current values after its return', async () => {
    const { micwatch, setPack, slot } = all
    setPack({ battery: 61 })
    await host.valueIs(`ch_${slot}_battery_charge`, '61%')
    const disconnected = await host.place('disconnected')
    const status = await host.place('channel_status', { channel: slot })
    assert.equal(disconnected(), false)
    await micwatch.kill()
    await host.statusIs(InstanceStatus.ConnectionFailure)
    await until('the feedbacks have changed', () => disconnected() === true)
    assert.deepEqual(status(), { ...buttonColors.offline })
    for (const [id, value] of host.values) {
      if (!/_(name|performer|pack|receiver)$/.test(id))
        assert.ok(value === 'offline' || value === undefined, `${id} is ${value}`)
    }
    assert.equal(host.values.get(`ch_${slot}_name`), 'Zoe')
    await assert.rejects(host.press('acknowledge_all', { note: '' }), /no connection to Micwatch/)
    setPack({ battery: 44 })
    await micwatch.restart()
    await host.statusIs(InstanceStatus.Ok)
    await host.valueIs(`ch_${slot}_battery_charge`, '44%')
    await until('the feedback is off', () => disconnected() === false)
  })

  // Conformance: C-16.115.
  it('notices a Micwatch that hangs, and resumes the connection', async () => {
    const { micwatch, setPack, slot } = all
    setPack({ battery: 61 })
    await host.valueIs(`ch_${slot}_battery_charge`, '61%')
    micwatch.signal('SIGSTOP')
    try {
      await host.valueIs(`ch_${slot}_battery_charge`, 'offline', 20_000)
      assert.equal(host.status()?.status, InstanceStatus.ConnectionFailure)
      setPack({ battery: 55 })
    } finally {
      micwatch.signal('SIGCONT')
    }
    await host.statusIs(InstanceStatus.Ok)
    await host.valueIs(`ch_${slot}_battery_charge`, '55%')
  })

  // Conformance: C-16.117.
  it('reports a revoked token', async () => {
    const { id, token } = await all.micwatch.createToken('Lost', 'viewer')
    const other = await startModule({ url: all.micwatch.url }, { token })
    await other.statusIs(InstanceStatus.Ok)
    await all.micwatch.delete(`/api/admin/tokens/${id}/`)
    await other.statusIs(InstanceStatus.AuthenticationFailure)
    await other.valueIs('connection', 'offline')
  })
})

describe('with 240 channels whose levels change all the time, over TLS', () => {
  let host: TestHost
  before(async () => {
    const simulator = await startSimulator({ receivers: 60, channelsPerReceiver: 4 })
    const micwatch = await startMicwatch(simulator, { tls: 'auto' })
    const { token } = await micwatch.createToken('Stream Deck', 'operator')
    host = await startModule({ url: micwatch.url }, { token })
    await host.statusIs(InstanceStatus.ConnectionFailure)
    assert.match(
      host.status()?.message ?? '',
      /The certificate of .* is not trusted .* enable "Accept any certificate"/,
    )
    await host.configUpdated({ url: micwatch.url, levels: '5', acceptAnyCertificate: true }, { token })
    await host.valueIs('channel_count', 240, 300_000)
    await host.press('marker', { text: 'over TLS' })
  })

  // Conformance: C-16.116.
  it('sets only changed variables, at most 5 times a second, and checks only feedbacks that look different', async () => {
    const slots = [...host.values.keys()].flatMap((id) => /^ch_(\d+)_name$/.exec(id)?.[1] ?? [])
    for (const slot of slots) await host.place('channel_status', { channel: Number(slot) })
    const before = new Map(host.values)
    host.updates.splice(0)
    host.executions.clear()
    await until('levels were updated 20 times', () => host.updates.length >= 20)
    const updates = host.updates.slice(0, 20)
    const seconds = ((updates.at(-1)?.at ?? 0) - (updates[0]?.at ?? 0)) / 1000
    assert.ok(seconds >= 19 * 0.19, `20 updates took ${seconds} s`)
    for (const { values } of updates) {
      for (const [id, value] of Object.entries(values)) {
        assert.notEqual(value, before.get(id), `${id} was set without a change`)
        before.set(id, value)
      }
    }
    const executions = [...host.executions.values()].reduce((sum, count) => sum + count, 0)
    assert.ok(executions < (host.updates.length * slots.length) / 2, `${executions} executions`)
  })
})
