/** Browser helpers for tests of the pages. */

import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, vi } from 'vitest'
import { createUser } from '../../../src/actions/access/people.ts'
import type { Role } from '../../../src/contract/values.ts'
import type { Actor } from '../../../src/domain/access/access.ts'
import type { TestApp } from '../app.ts'
import { onTestEnd } from '../cleanup.ts'
import { withDatabase } from '../store/databases.ts'
import { hasher, password } from '../users.ts'
import { findBrowser } from './chromium.ts'

// Options of `browser.open`, and parts of a page that several tests use.

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true }
export const messages = (page: Page) => page.getByRole('status', { name: 'Messages' })
export const dialog = (page: Page) => page.getByRole('dialog')
/** Presses a button of the open dialog. */
export const press = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click()
/** Chooses the best suggestion for this text. */
export async function chooseBySearch(page: Page, label: string, text: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label })
  await field.fill(text)
  await field.press('Enter')
}
export const rows = (page: Page) => page.locator('tbody tr')
export const row = (page: Page, name: string) => rows(page).filter({ hasText: name })

/** Counts what a user does: clicks, taps, key presses, and texts that are typed. */
export function countSteps() {
  let count = 0
  return {
    step: (action: Promise<unknown>) => {
      count += 1
      return action
    },
    get count() {
      return count
    },
  }
}

const actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }

/** Without animations, which need as much of a processor as everything else on a page. */
export const defaultContext = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const

type ServiceWithUsers = Pick<TestApp, 'url' | 'databaseUrl' | 'post'>

/** Opens pages in the browser that the test files share; each call of `open` has its own cookies. */
export function browserForTests() {
  let browser: Browser
  // A long timeout, because each test runs a complete service and a browser.
  vi.setConfig({ testTimeout: 120_000 })
  beforeAll(async () => {
    browser = await findBrowser()
  })

  return {
    /** Opens `path`. Fails the test if the browser reports an error other than a failed request. */
    async open(app: Pick<TestApp, 'url'>, path: string, options: Parameters<Browser['newContext']>[0] = {}) {
      const context = await browser.newContext({ ...defaultContext, ...options })
      onTestEnd(() => context.close())
      return openPage(context, app, path)
    },
    /** Does the same as `open`, but signed in with this role. */
    async openAs(app: ServiceWithUsers, role: Role, path: string, options: Parameters<Browser['newContext']>[0] = {}) {
      const context = await browser.newContext({ ...defaultContext, ...options })
      onTestEnd(() => context.close())
      await signIn(context, app, role)
      return openPage(context, app, path)
    },
  }
}

/** Creates the user if needed, and sets the session cookie. */
async function signIn(context: BrowserContext, app: ServiceWithUsers, role: Role): Promise<void> {
  const username = `the-${role}`
  await addUser(app, username, role)
  const response = await app.post('/api/auth/login', { username, password })
  expect(response.status).toBe(200)
  const { hostname } = new URL(app.url)
  const cookies = (response.headers['set-cookie'] ?? []).map((item) => {
    const [name = '', value = ''] = item.split(';')[0]?.split('=') ?? []
    return { name, value, domain: hostname, path: '/', httpOnly: true, sameSite: 'Lax' as const }
  })
  await context.addCookies(cookies)
}

export async function addUser(app: { databaseUrl: string }, username: string, role: Role): Promise<void> {
  try {
    const user = { username, password, role }
    await withDatabase(app, (db) => createUser(db, hasher, actor, user))
  } catch (error) {
    if (!String(error).includes('already exists')) throw error
  }
}

async function openPage(context: BrowserContext, app: Pick<TestApp, 'url'>, path: string): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (entry) => {
    // The last of these is about pages without TLS.
    const isNetwork =
      /^Failed to load resource|^WebSocket connection|^The Cross-Origin-Opener-Policy header has been ignored/.test(
        entry.text(),
      )
    if (entry.type() === 'error' && !isNetwork) errors.push(entry.text())
  })
  onTestEnd(() => expect(errors).toEqual([]))
  await page.goto(app.url + path)
  return page
}

/** Lets the page read its lists again, as it does when the user returns to it. */
export const returnTo = (page: Page) => page.evaluate("window.dispatchEvent(new Event('focus'))")

/** The minified file, because Chromium parses it in half the time. */
const { source: axeSource } = createRequire(import.meta.url)('axe-core/axe.min.js') as typeof axe

interface AxeResult {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Returns the accessibility violations that axe finds on the page, and what it cannot decide. It cannot decide the
 * contrast of texts on cards, because their background consists of pseudo-elements and a canvas.
 */
export function findViolations(page: Page): Promise<string[]> {
  return runAxe(page, "rules: { 'label-content-name-mismatch': { enabled: true } }")
}

/** Runs only the rules that depend on the theme, which takes a quarter of the time. */
export function findColourViolations(page: Page): Promise<string[]> {
  return runAxe(page, "runOnly: ['color-contrast', 'link-in-text-block']")
}

async function runAxe(page: Page, rules: string): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource)
  // A colour that is still changing has no contrast of its own.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity).map(({ finished }) => finished))',
  )
  // axe is a global in the page, without types here.
  const { violations, incomplete } = await page.evaluate<Record<'violations' | 'incomplete', AxeResult[]>>(
    `axe.run({ resultTypes: ['violations'], selectors: false, ${rules} })`,
  )
  return [...violations, ...incomplete.filter(({ id }) => id !== 'color-contrast')].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  )
}

/** Waits for two frames first: media queries match a new size of the window only in the next one. */
export async function scrollsHorizontally(page: Page): Promise<boolean> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  return page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}
