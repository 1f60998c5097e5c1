/** `export` and `import`, to another machine and on the same one. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configFor, createInstallationOn, startShure, until, withoutPush } from './support/app.ts'
import { engines } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

type Installation = Awaited<ReturnType<typeof createInstallationOn>>

/** Starts a service with two receivers of two channels each, and configures it as its users would. */
async function configureService(installation: Installation) {
  const service = await installation.serve()
  const receivers = await until('both receivers are known', async () => {
    const known = await service.receivers()
    return known.length === 2 && known.every(({ channels }) => channels.length === 2) && known
  })
  const headers = await tokenHeaders(installation, 'admin')
  const json = { ...headers, 'content-type': 'application/json' }
  const patch = (path: string, body: object) =>
    service.send('PATCH', path, { headers: json, body: JSON.stringify(body) })
  const hall = (await service.post('/api/admin/locations/', { name: 'Hall', description: 'The big one' }, headers)).json
  const rack = (await service.post('/api/admin/locations/', { name: 'Rack', parent: hall.id }, headers)).json
  const [first, second] = receivers
  await patch(`/api/admin/receivers/${first?.id}/`, { name: 'Stage left', location: rack.id })
  const channel = second?.channels[1]
  expect((await patch(`/api/channels/${channel?.id}/`, { slot: 40 })).status).toBe(200)
  const group = { title: 'Band', slots: [1, 40], manufacturer: 'shure' }
  const band = (await service.post('/api/group/', group)).json
  await service.post(`/api/config/?group=${band.id}`, { key: 'RF_WEAK_DBM', value: '-80' })
  await service.post(`/api/config/?group=${band.id}`, { key: 'MUTE_ATTENTION', value: 'always' })
  const silence = {
    ...{ channels: [channel?.id], groups: [band.id], kinds: ['rf_weak'], reason: 'Changeover' },
    until: new Date(Date.now() + 3_600_000).toISOString(),
  }
  expect((await service.post('/api/silences/', silence)).status).toBe(201)
  await service.post('/api/config/', { key: 'alert_battery_threshold', value: '33' })
  await service.post('/api/config/', { key: 'polling_interval', value: '2', manufacturer: 'shure' })
  const image = `data:image/jpeg;base64,/9j/${'A'.repeat(400)}`
  const ann = (await service.post('/api/performers/', { name: 'Ann', notes: 'No: 1 #', picture: image })).json
  const units = (await service.get('/api/units/')).json
  const unit = units.find((unit: { base_chassis: number; channel: number }) => unit.base_chassis === first?.id)
  await service.post('/api/assignments/', { performer: ann.id, wireless_unit: unit.id, role: 'Nora' })
  const comms = { slot: 50, kind: 'wireless', name: 'Comms', frequency: '1900.125', note: 'Two packs' }
  expect((await service.post('/api/placeholders/', comms)).status).toBe(201)
  const putSlot = (slot: number, body: object) => service.put(`/api/slots/${slot}/`, body)
  const planned = { frequency: '1900.125', transmitter: 'Comms pack' }
  expect((await putSlot(50, { color: 'red', planned, spares: [1] })).status).toBe(200)
  expect((await putSlot(40, { label: 'Lead' })).status).toBe(200)
  const plan = { title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z', ends_at: '2026-11-23T16:30:00.000Z' }
  const show = (await service.post('/api/shows/', { ...plan, group_ids: [band.id], notes: 'Understudy' })).json
  await service.post(`/api/shows/${show.id}/start`, undefined)
  const scene = (await service.post(`/api/shows/${show.id}/scenes/`, { title: 'Act 1' })).json
  expect((await service.post(`/api/shows/${show.id}/scenes/${scene.id}/recall`, {})).status).toBe(200)
  const rehearsal = (await service.post('/api/shows/', { title: 'Rehearsal' })).json
  const marker = { time: '2026-11-22T20:00:00.000Z', channel_id: channel?.id, text: 'Swapped the pack' }
  expect((await service.post('/api/markers/', marker)).status).toBe(201)
  for (const [path, more] of [['begin'], ['', { result: 'fail', note: 'Crackles' }], ['begin']] as const) {
    const body = { channel_id: channel?.id, ...more }
    expect((await service.post(`/api/shows/${rehearsal.id}/checks/${path}`, body)).status).toBeLessThan(300)
  }
  const notification = {
    name: 'Crew',
    type: 'ntfy',
    config: { url: 'https://ntfy.example', topic: 'rf', token: 'tk_1' },
  }
  const crew = (await service.post('/api/admin/notification-channels/', notification, headers)).json
  const webhook = { name: 'Desk', type: 'webhook', config: { url: 'http://10.0.0.9:8000/hook' }, enabled: false }
  const desk = (await service.post('/api/admin/notification-channels/', webhook, headers)).json
  const rule = {
    ...{ name: 'Band', notification_channel_ids: [crew.id], group_ids: [band.id], kinds: ['rf_weak'] },
    when: { days: ['sat'], from: '19:00', to: '23:00', time_zone: 'Europe/Berlin' },
    escalate: { after_seconds: 60, notification_channel_ids: [desk.id] },
  }
  expect((await service.post('/api/admin/notification-rules/', rule, headers)).status).toBe(201)
  return { service, receivers, picture: image, unit, signingSecret: desk.secret as string }
}

describe.each(engines)('export and import on %s', (engine) => {
  // Conformance: C-9.19, C-11.14, C-12.49, C-13.29, C-13.50, C-14.12, C-16.4.
  it('move settings to another machine, where they take effect within a second in a running service', async () => {
    const shure = withoutPush(await startShure())
    const source = await createInstallationOn(engine, [configFor(shure)])
    const { service, receivers, picture: image, unit, signingSecret } = await configureService(source)
    const first = (await service.get(`/api/receivers/${receivers[0]?.id}/`)).json
    const second = (await service.get(`/api/receivers/${receivers[1]?.id}/`)).json

    const exported = await source.run(['export'])
    expect([exported.code, exported.err]).toEqual([0, ''])
    expect(exported.out).toMatch(/^# The configuration of an installation/)
    expect(exported.out).not.toContain(shure.config.shared_key)
    const file = parse(exported.out)
    expect(file).toMatchObject({
      version: 1,
      settings: { alert_battery_threshold: 33 },
      manufacturers: [
        { code: 'shure', plugin: 'shure', config: { shared_key: '********' }, settings: { polling_interval: 2 } },
      ],
      locations: [{ name: 'Hall', description: 'The big one', locations: [{ name: 'Rack' }] }],
      groups: [
        {
          title: 'Band',
          slots: [1, 40],
          hide_charts: false,
          manufacturer: 'shure',
          settings: { RF_WEAK_DBM: -80, MUTE_ATTENTION: 'always' },
        },
      ],
      performers: [{ name: 'Ann', notes: 'No: 1 #', picture: image }],
      assignments: [
        {
          performer: 'Ann',
          manufacturer: 'shure',
          serial_number: first.serial_number,
          channel: unit.channel,
          role: 'Nora',
        },
      ],
      placeholders: [{ slot: 50, kind: 'wireless', name: 'Comms', frequency: '1900.125', note: 'Two packs' }],
      slots: [
        { slot: unit.slot, performer: 'Ann', role: 'Nora' },
        { slot: 40, label: 'Lead' },
        { slot: 50, color: 'red', planned: { transmitter: 'Comms pack' }, spares: [1] },
      ],
      shows: [
        { title: 'Rehearsal', starts_at: null, groups: [], started_at: null },
        {
          ...{ title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z', ends_at: '2026-11-23T16:30:00.000Z' },
          ...{ groups: ['Band'], notes: 'Understudy', started_at: expect.any(String), ended_at: null },
        },
      ],
      scenes: [
        {
          show: { title: 'Matinee', starts_at: '2026-11-23T14:00:00.000Z' },
          ...{ title: 'Act 1', by: 'local' },
          recalled_at: expect.any(String),
          slots: expect.arrayContaining([
            expect.objectContaining({
              ...{ slot: 40, kind: 'wireless', frequency: second.channels[1].frequency },
              channel: {
                ...{ manufacturer: 'shure', serial_number: second.serial_number, channel: 2 },
                ...{ api_device_id: expect.any(String), mac_address: expect.any(String) },
              },
            }),
            expect.objectContaining({ entered: expect.objectContaining({ performer: 'Ann', role: 'Nora' }) }),
          ]),
          groups: [{ group: 'Band', title: 'Band', slots: [1, 40] }],
          performers: [{ performer: 'Ann', name: 'Ann' }],
          units: [],
        },
      ],
      silences: [
        {
          channels: [{ manufacturer: 'shure', serial_number: second.serial_number, channel: 2 }],
          groups: ['Band'],
          kinds: ['rf_weak'],
          reason: 'Changeover',
          by: 'local',
        },
      ],
      markers: [
        {
          time: '2026-11-22T20:00:00.000Z',
          channel: { manufacturer: 'shure', serial_number: second.serial_number, channel: 2 },
          text: 'Swapped the pack',
          by: 'local',
        },
      ],
      checks: [
        {
          show: { title: 'Rehearsal', starts_at: null },
          channel: { manufacturer: 'shure', serial_number: second.serial_number, channel: 2 },
          ...{
            began_at: expect.any(String),
            time: expect.any(String),
            result: 'fail',
            note: 'Crackles',
            by: 'local',
          },
        },
        { show: { title: 'Rehearsal' }, began_at: expect.any(String), by: 'local' },
      ],
      notification_channels: [
        { name: 'Crew', type: 'ntfy', enabled: true, config: { topic: 'rf', token: '********' } },
        { name: 'Desk', type: 'webhook', enabled: false, config: { url: 'http://10.0.0.9:8000/hook' } },
      ],
      notification_rules: [
        {
          ...{ name: 'Band', notification_channels: ['Crew'], groups: ['Band'], kinds: ['rf_weak'] },
          when: { days: ['sat'], from: '19:00', to: '23:00', time_zone: 'Europe/Berlin' },
          escalate: { after_seconds: 60, notification_channels: ['Desk'] },
        },
      ],
    })
    expect(exported.out).not.toContain(signingSecret)
    const renamedReceiver = file.receivers.find((receiver: { name?: string }) => receiver.name === 'Stage left')
    expect(renamedReceiver).toMatchObject({ serial_number: first.serial_number, location: ['Hall', 'Rack'] })
    const other = file.receivers.find((receiver: { name?: string }) => receiver.name === undefined)
    expect(other).toMatchObject({ serial_number: second.serial_number, slots: { 2: 40 } })
    expect((await source.run(['export', '--json'])).json()).toEqual(file)
    expect((await source.run(['export'])).out).toBe(exported.out)

    const written = await source.run(['export', '--with-secrets', '--output', 'installation.yaml'])
    expect([written.code, written.out]).toEqual([0, ''])
    const path = join(source.path, 'installation.yaml')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const content = await readFile(path, 'utf8')
    expect(parse(content).manufacturers[0].config.shared_key).toBe(shure.config.shared_key)
    expect(parse(content).notification_channels).toMatchObject([
      { config: { token: 'tk_1' } },
      { secret: signingSecret },
    ])

    // Importing the file where it was exported changes nothing.
    const same = await source.run(['import', 'installation.yaml', '--json'])
    const counts = Object.values<{ created: number; updated: number }>(same.json().counts)
    expect(counts.every(({ created, updated }) => created + updated === 0)).toBe(true)
    service.kill('SIGTERM')
    await service.ended

    const target = await createInstallationOn(engine)
    await target.write('installation.yaml', content)
    const firstImport = await target.run(['import', 'installation.yaml', '--json'])
    expect(firstImport.json()).toMatchObject({
      dry_run: false,
      counts: {
        manufacturers: { created: 1 },
        settings: { created: 4 },
        locations: { created: 2 },
        groups: { created: 1 },
        performers: { created: 1 },
        receivers: { created: 0, updated: 0 },
        assignments: { created: 0 },
        placeholders: { created: 1 },
        slots: { created: 0, updated: 1 },
        shows: { created: 2 },
        scenes: { created: 1 },
        silences: { created: 0 },
        markers: { created: 0 },
        checks: { created: 0 },
        notification_channels: { created: 2 },
        notification_rules: { created: 1 },
      },
    })
    expect(firstImport.json().unknown).toHaveLength(3)
    expect(firstImport.json().unknown).toContain(`shure ${first.serial_number}`)
    const targetService = await target.serve()
    await until('both receivers are known', async () => (await targetService.receivers()).length === 2)
    const socket = await targetService.socket()
    const dryRun = await target.run(['import', 'installation.yaml', '--dry-run', '--json'])
    expect(dryRun.json()).toMatchObject({ dry_run: true, unknown: [] })
    expect((await targetService.get('/api/assignments/')).json).toEqual([])
    const secondImport = await target.run(['import', '-', '--json'], {}, content)
    expect(secondImport.json()).toEqual({ ...dryRun.json(), dry_run: false })
    expect(secondImport.json().counts).toMatchObject({
      receivers: { updated: 2 },
      assignments: { created: 1 },
      scenes: { updated: 1 },
      silences: { created: 1 },
      markers: { created: 1 },
      checks: { created: 2 },
    })
    const importedAt = performance.now()
    await socket.next(({ type, data }) => type === 'device_update' && data.name === 'Stage left', 3000)
    expect(performance.now() - importedAt).toBeLessThan(timeLimit(1500))
    const receiver = await until('the receiver has its name', async () => {
      const all = await targetService.receivers()
      return all.find(({ name }) => name === 'Stage left')
    })
    const detail = (await targetService.get(`/api/receivers/${receiver.id}/`)).json
    expect(detail.location).toMatchObject({ name: 'Rack' })
    const admin = await tokenHeaders(target, 'admin')
    const slots = async () =>
      (await targetService.receivers()).flatMap(({ channels }) => channels.map(({ slot }) => slot))
    expect(await slots()).toContain(40)
    expect(new Set(await slots()).size).toBe(4)
    expect((await targetService.get('/api/admin/movements/', admin)).json).toMatchObject([
      { movement_type: 'location_only', detected_by: 'manual', reason: 'imported' },
    ])
    const audit = (await targetService.get('/api/admin/audit/?action=configuration.', admin)).json
    expect(audit).toHaveLength(2)
    expect(audit[0]).toMatchObject({
      action: 'configuration.import',
      target: 'standard input',
      actor: { kind: 'cli' },
    })
    expect(JSON.stringify(audit)).not.toContain(shure.config.shared_key)
    const reexported = await target.run(['export', '--with-secrets'])
    expect(parse(reexported.out)).toEqual(parse(content))
  })
})

describe.each(engines)('export and import on %s with stored secrets', (engine) => {
  // Conformance: C-9.19.
  it('keep stored secrets where the file contains `********`, reassign slots, and delete nothing', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallationOn(engine, [configFor(shure)])
    const { service } = await configureService(installation)
    const file = parse((await installation.run(['export'])).out)
    file.manufacturers[0].name = 'Main Shure'
    // The first channel of one receiver takes the slot of the other receiver's first channel.
    const [first, second] = file.receivers
    const changes = { ...file, groups: [{ title: 'Choir' }], performers: [], locations: [] }
    const takenSlot = second.slots[1]
    changes.receivers = [{ ...first, slots: { 1: takenSlot } }]
    await installation.write('change.json', JSON.stringify(changes))
    const { code, json } = await installation.run(['import', 'change.json', '--json'])
    expect([code, json().counts]).toMatchObject([
      0,
      {
        manufacturers: { updated: 1 },
        groups: { created: 1 },
        receivers: { updated: 1 },
        performers: { created: 0 },
      },
    ])
    const after = parse((await installation.run(['export', '--with-secrets'])).out)
    expect(after.manufacturers[0]).toMatchObject({
      name: 'Main Shure',
      config: { shared_key: shure.config.shared_key },
    })
    expect(after.groups.map(({ title }: { title: string }) => title)).toEqual(['Band', 'Choir'])
    expect(after.performers).toHaveLength(1)
    expect(after.locations).toHaveLength(1)
    const slots = after.receivers.map((receiver: { slots: Record<string, number> }) => receiver.slots)
    expect(slots).toEqual([
      { ...first.slots, 1: takenSlot },
      { ...second.slots, 1: first.slots[1] },
    ])
    await until(
      'the service continues polling',
      async () => (await service.get('/api/health/')).json.status === 'healthy',
    )
  })
})
