/** Scans, their limits, and TV channels on the page of the frequencies in a browser. */

import { expect, it } from 'vitest'
import { browserForTests, findViolations, messages, press, scrollsHorizontally } from '../support/browser/browser.ts'
import { conflicts, openTab, scan, spectrum, startFrequencies } from '../support/browser/frequencies-page.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

// Conformance: C-15.78, C-15.79, C-15.93, C-23.23.
it('uploads, shows and deletes scans, and marks TV channels', async () => {
  const { service, frequencies } = await startFrequencies()
  const page = await open(service, '/frequencies?tab=scans')
  const scans = page.getByRole('region', { name: 'Scans', exact: true })
  await scans.getByText('No scans.').waitFor()
  await scans.getByRole('button', { name: 'Upload scan' }).click()
  await press(page, 'Upload scan')
  await page.getByRole('dialog').getByText('Choose a file.').waitFor()
  const file = { name: 'foyer.csv', mimeType: 'text/csv', buffer: Buffer.from('470.000,-98.5\n') }
  await page.getByLabel('File').setInputFiles(file)
  await page.getByLabel('Offset in dB').fill('−50')
  await press(page, 'Upload scan')
  await messages(page).getByText('foyer-1.csv: 2000 points uploaded, 2000 rows read.').waitFor()
  const [, , body = ''] = frequencies.written.at(-2) ?? []
  expect(frequencies.measured.scan_ids).toEqual([1])
  await scans.getByText('used for checks').waitFor()
  expect(body).toContain('name="offset_db"\r\n\r\n-50\r\n')
  expect(body).toContain('470.000,-98.5')
  const box = scans.getByRole('checkbox', { name: 'foyer-1.csv' })
  await eventually(() => box.isChecked()).toBe(true)
  await eventually(() => service.requests.some(({ path }) => path === '/api/scans/1/')).toBe(true)
  await scans.getByRole('button', { name: 'Delete foyer-1.csv' }).click()
  await press(page, 'Delete')
  await scans.getByText('No scans.').waitFor()

  frequencies.skippedRows = [
    { line: 12, why: '"loud" is not a level.' },
    { file: 'balcony.csv', line: 3, why: '"x" is not a frequency.' },
  ]
  await scans.getByRole('button', { name: 'Upload scan' }).click()
  await page
    .getByLabel('File')
    .setInputFiles([file, { ...file, name: 'balcony.csv', buffer: Buffer.from('471.000,-97') }])
  await page.getByLabel('Use for checks').uncheck()
  await press(page, 'Upload scan')
  const skipped = page.getByRole('dialog', { name: 'foyer-1.csv: some rows were skipped' })
  await skipped.getByText('foyer-1.csv: 2000 points uploaded, 2000 rows read.').waitFor()
  await skipped.getByText('Line 12: "loud" is not a level.').waitFor()
  await skipped.getByText('Line 3 of balcony.csv: "x" is not a frequency.').waitFor()
  const [, , both = ''] = frequencies.written.at(-1) ?? []
  for (const part of ['foyer.csv', '470.000,-98.5', 'balcony.csv', '471.000,-97']) expect(both).toContain(part)
  await press(page, 'Close')
  await scans.getByRole('checkbox', { name: 'foyer-1.csv' }).waitFor()
  await scans.getByText('2000 points', { exact: false }).filter({ hasText: 'levels in dBm' }).waitFor()

  await openTab(page, 'TV')
  const tv = page.getByRole('region', { name: 'TV channels in use' })
  await tv.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('checkbox', { name: '24 (494–502 MHz)' }).check()
  await press(page, 'Save')
  await tv.getByText('24 (494–502 MHz)').waitFor()
  await conflicts(page).getByText('Mic 6 (495.025 MHz) touches a TV channel in use.').waitFor()
  expect(frequencies.tvInUse).toBe('24')
})

// Conformance: C-15.94.
it('lists the levels of the drawn scans in a table, with smaller steps when the spectrum is zoomed', async () => {
  const { service, frequencies } = await startFrequencies(['read'])
  frequencies.scans = [scan(1), scan(2)]
  const page = await open(service, '/frequencies?tab=scans')
  await page.getByText('Scan levels as a table').click()
  const table = page.getByRole('table', { name: 'Scan levels as a table' })
  const cells = async () =>
    (await table.getByRole('row').allInnerTexts()).map((text) => text.split('\t').map((cell) => cell.trim()))
  await eventually(async () => (await cells())[0]).toEqual(['Frequency in MHz', 'foyer-2.csv'])
  await eventually(async () => (await cells()).filter(([, level]) => level === '−70 dBm').length).toBeGreaterThan(1)
  const before = (await cells())[1]?.[0]
  expect(before).toMatch(/^48\d(\.\d+)? to 48\d(\.\d+)?$/)
  await page.getByRole('checkbox', { name: 'foyer-1.csv' }).check()
  await eventually(async () => (await cells())[0]).toEqual(['Frequency in MHz', 'foyer-1.csv', 'foyer-2.csv'])
  await eventually(() => findViolations(page)).toEqual([])
  const width = async () => {
    const [from = 0, to = 0] = ((await cells())[1]?.[0] ?? '').split(' to ').map(Number)
    return to - from
  }
  const wide = await width()
  for (let count = 0; count < 3; count++) await spectrum(page).getByRole('button', { name: 'Zoom in' }).click()
  await eventually(width).toBeLessThan(wide)
  await page.setViewportSize({ width: 320, height: 700 })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

// Conformance: C-23.62.
it('edits the limits for scans, and keeps the chosen scans', async () => {
  const { service, frequencies } = await startFrequencies()
  frequencies.measured = { ...frequencies.measured, scan_ids: [3] }
  const page = await open(service, '/frequencies?tab=scans')
  const limits = page.getByRole('region', { name: 'Limits for scans' })
  await limits.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Occupied from, in dBm').fill('low')
  await press(page, 'Save')
  await page.getByRole('dialog').getByText('Enter a number.').waitFor()
  await page.getByLabel('Occupied from, in dBm').fill('−90,5')
  await page.getByLabel('Greatest age in hours').fill('12')
  await page.getByLabel('Products of peaks count').uncheck()
  await press(page, 'Save')
  await messages(page).getByText('Limits saved.').waitFor()
  const [, , body = ''] = frequencies.written.at(-1) ?? []
  expect(JSON.parse(body)).toEqual({
    ...{ scan_ids: [3], exclude_above_dbm: -90.5, peak_above_dbm: -60, peak_spacing_khz: 800 },
    ...{ peak_products: false, max_age_hours: 12 },
  })
  await limits.getByText('−90.5 dBm').waitFor()
  await limits.getByText('of the last 12 hours').waitFor()
})

// Conformance: C-23.63.
it('lists the measured power of each TV channel with its scan, coverage and assumption', async () => {
  const { service, frequencies } = await startFrequencies()
  frequencies.scans = [scan(1)]
  frequencies.tvInUse = '21'
  frequencies.tv = [
    { channel: '21', dbm: -41.2, scan_id: 1, coverage: 1, assumed_rbw_khz: 112 },
    { channel: '22', dbm: -88, scan_id: 1, coverage: 0.53, assumed_rbw_khz: 112 },
  ]
  const page = await open(service, '/frequencies?tab=tv')
  const cells = page.getByRole('table', { name: 'Measured power' }).getByRole('row')
  await eventually(async () =>
    (await cells.allInnerTexts()).slice(1).map((row) => row.split('\t').map((cell) => cell.trim())),
  ).toEqual([
    ['21 (470–478 MHz)', '−41.2 dBm', 'In use', '100%', '112 kHz', 'foyer-1.csv'],
    ['22 (478–486 MHz)', '−88 dBm', '', '53%', '112 kHz', 'foyer-1.csv'],
  ])
})
