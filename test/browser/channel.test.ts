/** The channel page in a browser against a real service. */

import { expect, it } from 'vitest'
import type { ChannelDetails, TransmitterDetails } from '../../src/contract/channels.ts'
import { channelOf, configFor, deviceOf, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, findViolations, scrollsHorizontally } from '../support/browser/browser.ts'
import { receiver, startFakeService, withDetails } from '../support/browser/fake-service.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

async function start() {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const { id: device } = deviceOf(shure)
  const receiver = await until('the device is known', () => app.receiver(device))
  const { id: channel, slot } = channelOf(receiver)
  return { app, show: shure.show, device, receiver, channel, slot }
}

it.concurrent('shows all values of a channel and updates them', async () => {
  const { app, show, device, receiver, channel, slot } = await start()
  show.set(device, { name: 'H04 Elsbeth', battery: 81, rf_level: -52, audio_level: -18, transmitter: true }, 1)
  await app.post('/api/group/', { title: 'Band', slots: [slot] })
  const page = await open(app, `/channels/${channel}`)
  await page.locator('.card', { hasText: 'Elsbeth' }).waitFor()
  const text = () => page.locator('main').innerText()
  const { serial_number, mac_address } = receiver as unknown as Record<string, string>
  for (const expected of [receiver.ip, receiver.model, serial_number, mac_address, 'Band', '81%']) {
    await until(`${expected} is shown`, async () => (await text()).includes(String(expected)))
  }
  await eventually(() => page.title()).toContain('Elsbeth')
  await eventually(() => findViolations(page)).toEqual([])

  show.set(device, { battery: 6 }, 1)
  await page.locator('.card[data-state=battery_critical]').waitFor()
  await page.locator('.alert[data-severity=critical]').waitFor({ timeout: 15_000 })
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Band' }).click()
  await page.waitForURL(/\?group=\d+$/)
})

it.concurrent('shows additional values and flags that some equipment reports, and works by keyboard', async ({
  expect,
}) => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  const transmitterDetails: Required<TransmitterDetails> = {
    ...{ model: 'AD2', muted: false, gain_db: -6, power_mw: 10 },
    ...{ battery_bars: 4, battery_minutes: 245, battery_minutes_to_full: 61, battery_type: 'NiMH cells' },
    ...{ battery_health: 97, battery_cycles: 123, battery_temperature_c: -3, battery_is_estimate: true },
    ...{ battery_low: true, fault: 'too_hot', lock: 'menu', talk_switch: true },
    ...{ test_tone: true, version_mismatch: false, charging: 'full' },
    ...{ link_quality: 91, rssi: 44, rssi_2: 39, antenna: 2 },
    ...{ capsule: 'MMD 835', low_cut_hz: 120, faults: [{ part: 'bay 1', word: 'HOT' }] },
  }
  const channelDetails: Required<Omit<ChannelDetails, 'rf_percent'>> = {
    ...{ rf_a: -58, rf_b: -71, rf_c: -72, rf_d: -73, antennas: 'AC', quality: 80, interference: false },
    ...{ audio_peak: -4, audio_rms: -19, audio_activity: 'clipping', gain_db: 12, muted: true, encryption: 'error' },
    ...{ rf_low: true, overload: true, second_frequency: '578.900' },
    ...{ band: 'G57', transmission_mode: 'high_density', frequency_diversity: 'selection', group_channel: '2,5' },
    ...{ rf_overload: true, rf_concealed: false, booster_feed: true, charging: null },
    ...{ unregistered_transmitter: true, input_level: 'line', audio_mode: 'stereo', sync_result: 'Timeout' },
    slots: [
      { slot: 1, status: 'active', on_air: true, model: 'ADX2', name: 'LEAD', battery: 90 },
      {
        slot: 2,
        status: 'active',
        on_air: false,
        model: 'ADX2',
        name: 'SPARE',
        rf_muted: true,
        battery: 87,
        battery_minutes: 522,
      },
      { slot: 3, status: 'active', on_air: false, model: 'ADX1', rf_muted: false, battery: null, battery_bars: 4 },
      { slot: 4, status: 'inactive', on_air: false, model: 'ADX1', name: null, battery: null, battery_bars: null },
      { slot: 5, status: 'standard', on_air: false, name: 'OLD' },
    ],
  }
  service.data.receivers = [
    withDetails(receiver(1, [{ details: transmitterDetails }]), [channelDetails]),
    withDetails(receiver(2, [{ details: transmitterDetails, rf_level: null }]), [{ rf_percent: 55, muted: null }]),
  ]
  const last_seen = new Date().toISOString()
  for (const item of service.data.receivers) {
    service.data.responses[`/api/receivers/${item.id}/`] = { ...item, last_seen }
  }
  const page = await open(service, `/channels/${service.data.receivers[0]?.channels[0]?.id}`)
  const readPairs = async () => {
    const rows = await page.locator('.pairs > div').allInnerTexts()
    return rows.map((row) => row.replace(/\s+/g, ' ').trim())
  }
  await eventually(readPairs).toEqual(
    expect.arrayContaining([
      'RF A −58 dBm, B −71 dBm, C −72 dBm, D −73 dBm',
      ...['Active antennas AC', 'Link quality 80%', 'Interference no', 'Audio peak −4 dBFS', 'Audio RMS −19 dBFS'],
      ...['Audio level clipping', 'Gain 12 dB', 'Muted yes', 'Encryption keys do not match'],
      ...['Battery about 90%', 'Model AD2', 'Muted no', 'Gain −6 dB', 'Power 10 mW', 'Time left 4 hr 5 min'],
      ...['Time to full 1 hr 1 min', 'Battery bars 4 of 5', 'Battery type NiMH cells', 'Battery health 97%'],
      ...['Charge cycles 123', 'Battery temperature −3°C', 'Battery low yes', 'Fault Too hot to charge (bay 1 HOT)'],
      ...['RF low yes', 'Audio overload yes', 'Second frequency 578.900 MHz'],
      ...['Band G57', 'Transmission mode high density', 'Frequency diversity selection (FD-S)'],
      ...['Group, channel 2,5', 'Unregistered transmitter yes', 'Input level line', 'Audio mode stereo'],
      ...['Locked menu', 'Talk switch pressed yes', 'Capsule MMD 835', 'Low cut 120 Hz'],
      ...['RF overload yes', 'Booster power yes', 'Last sync Timeout'],
      'Slot 2 SPARE, ADX2 87%, 8 hr 42 min left, RF muted',
      'Slot 3 ADX1 battery 4 of 5, connected',
      ...['Slot 4 ADX1 not connected', 'Slot 5 OLD registered'],
    ]),
  )
  expect((await readPairs()).filter((row) => row.startsWith('Slot 1'))).toEqual([])
  await page.locator('.card[data-state=encryption_error]').getByTitle('Muted').waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  // Unknown values are left out.
  await page.goto(page.url().replace(/\d+$/, String(service.data.receivers[1]?.channels[0]?.id)))
  await eventually(readPairs).toContain('RF 55%')
  expect((await readPairs()).filter((row) => row.startsWith('Muted'))).toEqual(['Muted no'])
  await page.locator('.card').getByRole('img', { name: '55%' }).waitFor()
  const chart = page.getByRole('img', { name: 'Chart of RF (% of scale), Audio (dBFS)' })
  await chart.waitFor()

  // The arrow keys open the previous and the next channel, or move the cursor of the focused chart.
  const [first, second] = service.data.receivers.map(({ channels }) => `${service.url}/channels/${channels[0]?.id}`)
  await page.getByRole('link', { name: 'Previous channel: 1 ' }).waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.waitForURL(String(first))
  await page.getByRole('link', { name: 'Next channel: 5 ' }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.waitForURL(String(second))
  const time = chart.locator('.u-legend .u-value').first()
  await eventually(() => time.innerText()).toBe('–')
  await chart.focus()
  await page.keyboard.press('ArrowLeft')
  await eventually(() => time.innerText()).toMatch(/^\d+:\d\d:\d\d/)
  const newest = await time.innerText()
  await page.keyboard.press('ArrowLeft')
  await eventually(() => time.innerText()).not.toBe(newest)
  await eventually(() => page.url()).toBe(second)
})

it.concurrent('shows distinct times on the chart axis from the first sample', async () => {
  const { app, channel } = await start()
  const page = await open(app, '/about/')
  await page.addInitScript(`
    globalThis.written = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      written.push(text)
      return fillText.call(this, text, ...rest)
    }`)
  await page.goto(`${app.url}/channels/${channel}`)
  await page
    .getByRole('img', { name: /^Chart of/ })
    .first()
    .waitFor()
  const readTimes = async () =>
    (await page.evaluate<string[]>('written')).filter((text) => /^\d+:\d\d:\d\d\s[AP]M$/.test(text))
  // The axes are drawn again every second, on a busy machine less often.
  await page.evaluate('new Promise((done) => setTimeout(done, 1_500))')
  await eventually(async () => (await readTimes()).length).toBeGreaterThan(20)
  const times = await readTimes()
  expect(times.filter((time, index) => time === times[index - 1])).toEqual([])
})

it.concurrent('fits a phone, with a QR code and a back link', async () => {
  const { app, channel } = await start()
  const page = await open(app, `/channels/${channel}`, { viewport: { width: 390, height: 844 } })
  await page.locator('.card').waitFor()
  await page.getByRole('img', { name: /^QR code of http/ }).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Back to the monitor' }).click()
  await page.locator('.card').nth(3).waitFor()
})

it.concurrent('reports an unknown channel', async () => {
  const { app } = await start()
  const page = await open(app, '/channels/99999')
  await page.getByRole('heading', { name: 'Channel not found' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
})
