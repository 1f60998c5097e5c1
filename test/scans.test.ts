/** Spectrum scans: upload, list, levels, deletion and announcements. */

import { describe, expect, it } from 'vitest'
import { maxScans } from '../src/domain/frequencies/scans/scan.ts'
import { insertScan } from '../src/storage/frequencies.ts'
import { startApp, until } from './support/app.ts'
import { openLive } from './support/live-client.ts'
import {
  csvFile,
  points,
  powerRows,
  rfExplorerFile,
  rfeFile,
  sdb2File,
  sdb3File,
  wsmFile,
} from './support/scan-files.ts'
import { sendForm, uploadScan as upload } from './support/scan-upload.ts'
import { engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.concurrent.each(engines)('scans (%s)', (engine) => {
  // Conformance: C-15.52, C-15.53, C-15.92.
  it('are stored, listed, read and deleted', async () => {
    const app = await startApp({ engine })
    const { status, json: uploaded } = await upload(app, csvFile())
    expect([status, uploaded]).toEqual([
      201,
      {
        ...{
          id: 1,
          name: 'hall.csv',
          format: 'csv',
          points: 5,
          from_mhz: '470.000',
          to_mhz: '470.100',
          taken_at: null,
        },
        ...{ unit: 'dBm', calibrated: true, step_khz: 25 },
        ...{ rows_read: 5, rows_skipped: [], version: expect.any(Number) },
        ...{ uploaded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), by: 'local' },
      },
    ])
    const { rows_read: _, rows_skipped: __, ...scan } = uploaded
    const [mhz, dbm] = [points.map(([frequency]) => frequency.toFixed(3)), points.map(([, level]) => level)]
    expect((await app.get('/api/scans/1/')).json).toEqual({ ...scan, mhz, dbm })
    const timeline = sdb3File([{ id: 1, levels: dbm }])
    const { rows_read, rows_skipped, ...second } = (
      await upload(app, timeline, { name: 'C:\\Scans\\Große Bühne.sdb3', fields: { offset_db: '-50.5' } })
    ).json
    expect([rows_read, rows_skipped]).toEqual([1, []])
    expect(second).toMatchObject({ id: 2, name: 'Große Bühne.sdb3', format: 'sdb3' })
    expect(second.taken_at).toBe(new Date(2026, 10, 22, 19, 30, 5).toISOString())
    expect((await app.get('/api/scans/2/')).json.dbm).toEqual(dbm.map((level) => Math.round((level - 50.5) * 10) / 10))
    expect((await app.get('/api/scans/')).json).toEqual([scan, second])
    expect((await app.get('/api/scans/?page_size=1&page=2')).json).toMatchObject({ count: 2, results: [second] })

    const remove = () => app.send('DELETE', '/api/scans/1/')
    expect((await remove()).status).toBe(204)
    expect([(await remove()).status, (await app.get('/api/scans/1/')).status]).toEqual([404, 404])
    expect((await app.get('/api/scans/')).json).toEqual([second])
    // Ids are never reused.
    expect((await upload(app, csvFile())).json.id).toBe(3)
  })

  // Conformance: C-15.54.
  it('are at most 50', async () => {
    const app = await startApp({ engine })
    const scan = {
      ...({ name: 'hall.csv', format: 'csv', points: 5, from_khz: 470_000, to_khz: 470_100 } as const),
      ...{ unit: 'dBm', isCalibrated: true, step_hz: 25_000 },
    }
    const levels = { khz: Uint32Array.of(470_000, 470_025, 470_050, 470_075, 470_100), tenthsDbm: new Int16Array(5) }
    await withDatabase(app, (db) =>
      db.transaction(async (tx) => {
        for (let id = 1; id < maxScans; id += 1) {
          await insertScan(tx, { ...scan, taken_at: null, uploaded_at: 0, by: 'local' }, levels)
        }
      }),
    )
    const results = await Promise.all([1, 2, 3].map(() => upload(app, csvFile())))
    expect(results.filter(({ status }) => status === 201)).toHaveLength(1)
    const refused = results.filter(({ status }) => status === 409)
    expect(refused.map(({ json }) => json.error)).toEqual(
      Array(2).fill('50 scans are stored, which is the limit. Delete a scan and try again.'),
    )
    const [{ id }] = (await app.get('/api/scans/')).json
    expect((await app.send('DELETE', `/api/scans/${id}/`)).status).toBe(204)
    expect((await upload(app, csvFile())).status).toBe(201)
  })
})

describe.concurrent('uploads of scans', () => {
  // Conformance: C-15.55.
  it('accept every format, whatever the name of the file', async () => {
    const app = await startApp()
    const levels = points.map(([, dbm]) => dbm)
    for (const [format, file] of [
      ['rf_explorer', rfExplorerFile([levels])],
      ['wsm', wsmFile()],
      ['sdb2', sdb2File([levels])],
      ['sdb3', sdb3File([{ id: 0, levels }])],
    ] as const) {
      const { json } = await upload(app, file, { name: 'scan.txt' })
      expect(json).toMatchObject({ format, points: 5, from_mhz: '470.000', to_mhz: '470.100' })
      expect((await app.get(`/api/scans/${json.id}/`)).json.dbm).toEqual(levels)
    }
    const compressed = await upload(app, rfeFile([levels]), { name: 'scan.rfe' })
    expect(compressed.json).toMatchObject({ format: 'rf_explorer', points: 5, unit: 'dBm', rows_read: 1 })
    const relative = (await upload(app, powerRows([levels]))).json
    expect(relative).toMatchObject({ format: 'rtl_power', unit: 'dB', calibrated: false })
    expect((await app.get('/api/scans/')).json.at(-1)).toMatchObject({ unit: 'dB', calibrated: false, step_khz: 25 })
  })

  // Conformance: C-15.56.
  it('refuse files that cannot be read, and say why', async () => {
    const app = await startApp()
    for (const [file, details] of [
      ['', 'file: The file is empty.'],
      ['470.000,-98\n470.025,loud\n470.050,loud\n', 'file: 2 of 3 rows cannot be read. Line 2: "loud" is not a level.'],
      ['Frequency (MHz),Level (V)\n470.000,1\n', 'file: Levels in "V" are not supported, only dBm, dBµV and dBmV.'],
      ['<!DOCTYPE a><a/>', 'file: Files with a document type (DOCTYPE) are not read.'],
      [
        Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0]),
        'file: The file is neither text nor a scan of a supported program.',
      ],
    ] as const) {
      const { status, json } = await upload(app, file)
      expect([status, json.details]).toEqual([400, details])
    }
    expect((await app.get('/api/scans/')).json).toEqual([])
  })

  // Conformance: C-23.22.
  it('unite several files to one scan with the highest level at each frequency', async () => {
    const app = await startApp()
    const send = (files: Readonly<Record<string, string>>) => {
      const form = new FormData()
      for (const [name, content] of Object.entries(files)) form.append('file', new Blob([content]), name)
      return sendForm(app, form)
    }
    const louder = csvFile(points.map(([mhz, dbm], index) => [mhz + 0.05, dbm + (index === 0 ? 10 : -40)]))
    const damaged = louder.replace('470.075', 'x,-90\r\n470.075')
    const { status, json } = await send({ 'low.csv': csvFile(), 'high.csv': damaged, 'wsm.csv': wsmFile() })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      ...{ name: 'low.csv + 2', format: 'mixed', unit: 'dBm', calibrated: true, points: 7, step_khz: 25 },
      ...{ from_mhz: '470.000', to_mhz: '470.150', rows_read: 15, taken_at: expect.any(String) },
      rows_skipped: [{ file: 'high.csv', line: 2, why: '"x" is not a frequency.' }],
    })
    const { dbm } = (await app.get(`/api/scans/${json.id}/`)).json
    expect(dbm).toEqual([-98.5, -97, -61.3, -88, -101.2, -128, -141.2])
    for (const [files, details] of [
      [{ 'a.csv': csvFile(), 'b.csv': 'hello' }, 'file: b.csv: No line contains a frequency and a level'],
      [
        { 'a.csv': csvFile(), 'b.csv': powerRows([points.map(([, level]) => level)]) },
        'file: b.csv has relative levels, a.csv has levels in dBm. Upload them as separate scans.',
      ],
    ] as const) {
      const refused = await send(files)
      expect([refused.status, refused.json.details]).toEqual([400, expect.stringContaining(details)])
    }
    expect((await app.get('/api/scans/')).json).toHaveLength(1)
  })

  // Conformance: C-15.57.
  it('refuse forms without exactly one file, and wrong fields', async () => {
    const app = await startApp()
    const file = () => new Blob([csvFile()])
    const form = (...entries: (readonly [string, string | Blob])[]) => {
      const made = new FormData()
      for (const [name, value] of entries)
        typeof value === 'string' ? made.append(name, value) : made.append(name, value, 'a')
      return made
    }
    for (const [body, details] of [
      [form(), 'file: missing'],
      [form(['offset_db', '3']), 'file: missing'],
      [form(['file', csvFile()]), 'file: expected a file, not text'],
      [form(['scan', file()]), 'file: missing'],
      [form(...Array.from({ length: 65 }, () => ['file', file()] as const)), 'body: expected at most 64 files'],
      [form(['file', file()], ['name', 'x']), 'name: unknown field'],
      [
        form(['file', file()], ['offset_db', 'x']),
        'offset_db: expected a number of decibels from -200 to 200, which is added to all levels',
      ],
      [
        form(['file', file()], ['offset_db', '201']),
        'offset_db: expected a number of decibels from -200 to 200, which is added to all levels',
      ],
      [form(['offset_db', '1'], ['offset_db', '2'], ['file', file()]), 'offset_db: expected only one value'],
      [form(['file', file()], ['offset_db', '1'.repeat(2000)]), 'offset_db: expected at most 1024 bytes'],
      [
        form(...Array.from({ length: 12 }, (_, index) => [`f${index}`, 'x'] as const)),
        'body: expected at most 10 fields',
      ],
    ] as const) {
      const { status, json } = await sendForm(app, body)
      expect([status, json.details]).toEqual([400, details])
    }
    expect((await sendForm(app, form(['offset_db', ''], ['file', file()]))).status).toBe(201)
    const raw = (type: string, body: string) =>
      app.send('POST', '/api/scans/', { headers: { 'content-type': type }, body })
    expect((await raw('application/json', '{}')).json).toMatchObject({
      status: 415,
      error: 'The body must be multipart/form-data.',
    })
    expect((await raw('multipart/form-data', 'x')).json.details).toBe(
      'body: expected multipart/form-data with a boundary',
    )
    expect((await raw('multipart/form-data; boundary=a', '--a\r\nContent-Dis')).status).toBe(400)
    expect((await app.send('POST', '/api/scans/')).status).toBe(400)
  })

  // Conformance: C-15.59.
  it('need the role operator, as does deletion; reading needs the role viewer', async () => {
    const app = await startApp({ config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    expect((await upload(app, csvFile())).status).toBe(401)
    expect((await upload(app, csvFile(), { headers: viewer })).status).toBe(403)
    expect((await upload(app, csvFile(), { headers: { ...operator, origin: 'http://other.example' } })).status).toBe(
      403,
    )
    const { json } = await upload(app, csvFile(), { headers: operator })
    expect(json.by).toBe("a test's operator")
    const path = `/api/scans/${json.id}/`
    expect((await app.send('DELETE', path, { headers: viewer })).status).toBe(403)
    expect([(await app.get(path)).status, (await app.get('/api/scans/')).status]).toEqual([401, 401])
    expect([(await app.get(path, viewer)).status, (await app.get('/api/scans/', viewer)).status]).toEqual([200, 200])
    expect((await app.send('DELETE', path, { headers: operator })).status).toBe(204)
    const { json: records } = await app.get('/api/admin/audit/?action=scan.', await tokenHeaders(app, 'admin'))
    const summary = { name: 'hall.csv', format: 'csv', points: 5, offset_db: 0 }
    expect(records.map((entry: { action: string; details: object }) => [entry.action, entry.details])).toEqual([
      ['scan.delete', { name: 'hall.csv' }],
      ['scan.upload', summary],
    ])
  })

  // Conformance: C-15.60.
  it('are announced to connected clients', async () => {
    const app = await startApp()
    const client = await openLive(app)
    const announced = () => client.messages.filter(({ type }) => type === 'scans').at(-1)
    const { rows_read: _, rows_skipped: __, ...json } = (await upload(app, csvFile())).json
    await until('the scan is announced', () => announced() !== undefined)
    expect(announced()).toMatchObject({ type: 'scans', scans: [json] })
    await app.send('DELETE', `/api/scans/${json.id}/`)
    await until('the deletion is announced', () => JSON.stringify(announced()).includes('"scans":[]'))
  })
})
