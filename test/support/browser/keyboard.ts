/** Operates a page with a keyboard alone. */

import type { Locator, Page } from 'playwright-core'

/** If more presses are needed, a user who cannot use a mouse gives up. */
const mostPresses = 25

interface Route {
  readonly key?: string
  /** A region, which is one tab stop: Tab leads to it, Home to its first control, and `key` to the others. */
  readonly region?: Locator
}

/** Moves the focus with Tab, and within a region with another key. */
export async function moveTo(page: Page, target: Locator, { region, key }: Route = {}): Promise<void> {
  await target.waitFor()
  if (region !== undefined) {
    await press(page, 'Tab', region.locator(':focus'))
    await page.keyboard.press('Home')
  }
  await press(page, key ?? (region === undefined ? 'Tab' : 'ArrowRight'), target.and(page.locator(':focus')))
}

/** Moves to a control and presses it. */
export async function activate(page: Page, target: Locator, route?: Route): Promise<void> {
  await moveTo(page, target, route)
  await page.keyboard.press('Enter')
}

async function press(page: Page, key: string, goal: Locator): Promise<void> {
  const path: string[] = []
  while ((await goal.count()) === 0) {
    path.push(await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 100)'))
    if (path.length > mostPresses) throw new Error(`${key} does not lead to ${goal} but to:\n${path.join('\n')}`)
    await page.keyboard.press(key)
  }
}
