/** The look of the pages: themes, narrow and zoomed windows, forced colours, paper and the bundled typeface. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { browserForTests, findViolations, scrollsHorizontally } from '../support/browser/browser.ts'
import { receiver, startFakeService } from '../support/browser/fake-service.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

/** 320 px is also a window of 1280 px at 400% zoom, and 640 px one at 200% zoom. */
const widths = [320, 640, 820, 1920]

/** Pages that no other test file opens, and one in each of the other themes. */
const themedPages = [
  ['/kiosk', 'dark', 'This link contains no token'],
  ['/about', 'dark', 'About Micwatch'],
  ['/account', 'light', 'Your account'],
  ['/admin', 'contrast', 'Administration'],
] as const

function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${property}')`,
  )
}

it('has accessible pages in each theme, which fit into every width', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/sign-in')
  for (const [path, theme, heading] of themedPages) {
    await page.goto(`${app.url}${path}?theme=${theme}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await eventually(() => findViolations(page), path).toEqual([])
    for (const width of widths) {
      await page.setViewportSize({ width, height: 700 })
      await eventually(() => scrollsHorizontally(page), `${path}, ${width} px`).toBe(false)
    }
  }
})

it('has touch targets of 44 px on a touch screen', async () => {
  const app = await startApp()
  const page = await browser.open(app, '/sign-in', {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const heights = await page.evaluate<number[]>(
    `[...document.querySelectorAll('button, input, summary')].map((element) => element.getBoundingClientRect().height)`,
  )
  expect(heights.length).toBeGreaterThan(3)
  expect(heights.filter((height) => height < 44)).toEqual([])
})

it('shows with forced colours what is selected, where the focus is and what needs attention', async () => {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  const equipment = receiver(1, [{}, { battery: 5 }])
  const [good, failing] = equipment.channels
  if (good === undefined || failing === undefined) throw new Error('The receiver has two channels.')
  const condition = { ...failing.condition, state: 'battery_critical', severity: 'critical', attention: true } as const
  service.data.receivers = [{ ...equipment, channels: [good, { ...failing, condition }] }]
  const page = await browser.open(service, '/', { forcedColors: 'active' })
  await page.locator('.card').first().waitFor()
  const background = (isPressed: boolean) => styleOf(page, `.toolbar [aria-pressed="${isPressed}"]`, 'background-color')
  await eventually(async () => (await background(true)) === (await background(false))).toBe(false)

  await page.keyboard.press('Tab')
  await eventually(() => styleOf(page, ':focus-visible', 'outline-style')).toBe('solid')

  await page.locator('.card[data-attention]').first().waitFor()
  await eventually(() => styleOf(page, '.card[data-attention]', 'outline-width')).toBe('4px')
  await eventually(() => styleOf(page, '.card:not([data-attention])', 'outline-style')).toBe('none')
})

it('animates nothing when the user prefers reduced motion', async () => {
  const app = await startApp()
  const page = await browser.open(app, '/sign-in', { reducedMotion: 'reduce' })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await eventually(() => styleOf(page, '.choice', 'transition-duration')).toBe('0s')
})

it('shows on a wide screen no buttons of narrow ones, so the parts override the general rules', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin/groups')
  await page.getByRole('heading', { name: 'No groups' }).waitFor()
  for (const name of ['.admin-menu', '.filter-toggle']) {
    await eventually(() => page.locator(name).isVisible()).toBe(false)
  }
})

it('prints black on white, without navigation and controls', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin/settings')
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  await eventually(() => page.getByRole('cell', { name: 'Polling interval' }).first().isVisible()).toBe(true)
  for (const control of [page.getByRole('navigation').first(), page.getByRole('button').first()]) {
    await eventually(() => control.isVisible()).toBe(false)
  }
  await eventually(() => styleOf(page, 'html', 'background-color')).toBe('rgb(255, 255, 255)')
  await eventually(() => styleOf(page, '.data-table td', 'color')).toBe('rgb(0, 0, 0)')
})

it('loads the bundled typeface, in which all digits have the same width', async () => {
  const app = await startApp()
  const page = await browser.open(app, '/about')
  await page.getByRole('heading', { name: 'About Micwatch' }).waitFor()
  const widths = await page.evaluate<number[]>(`(async () => {
    await document.fonts.ready
    const text = document.createElement('span')
    text.className = 'tabular'
    document.querySelector('main').append(text)
    return [...'0123456789'].map((digit) => {
      text.textContent = digit.repeat(20)
      return text.getBoundingClientRect().width
    })
  })()`)
  expect(new Set(widths).size).toBe(1)
  const isLoaded = `[...document.fonts].some((font) => font.family.includes('Inter') && font.status === 'loaded')`
  await eventually(() => page.evaluate<boolean>(isLoaded)).toBe(true)
})
