import { it } from 'vitest'
import { onTestEnd } from '../cleanup.ts'
import { browserForTests } from './browser.ts'
import { eventAt, setHistory } from './fake-history.ts'
import { receiver, startFakeService } from './fake-service.ts'

const { open } = browserForTests()
it('try', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}, {}, {}, null]), receiver(2, [{}, { battery: 15 }, {}, {}])]
  const at = Math.floor((Date.now() - 20 * 60_000) / 1000) * 1000
  setHistory(service, {
    secondOf: (id, second) =>
      second * 1000 > at + 20_000 && second * 1000 < at + 25_000 && id === 1
        ? { letter: '0' }
        : { letter: '1', rf: -50 - ((second * id) % 20), audio: -20 - (second % 15), battery: 80 },
    events: [
      eventAt(at + 20_000, 'transmitter_off'),
      eventAt(at + 8_000, 'rf_dropout', {
        severity: 'warning',
        text: 'H01 Singer 1: RF dropout of 0.3 s, lowest level -97 dBm',
      }),
    ],
  })
  for (const theme of ['dark', 'light'])
    for (const [w, h] of [
      [390, 844],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      for (const path of ['/', '/wall']) {
        const page = await open(service, `${path}?at=${new Date(at + 10_000).toISOString()}&theme=${theme}`, {
          viewport: { width: w, height: h },
        })
        await page.locator('.card').first().waitFor()
        await page.waitForTimeout(4500)
        await page.screenshot({ path: `/tmp/shots/replay${path === '/' ? '-m' : '-w'}-${theme}-${w}.png` })
        await page.close()
      }
    }
}, 200_000)
