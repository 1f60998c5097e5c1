/** Entry point: creates the shared objects and renders the page. */

import { type ComponentType, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { mountOf, type Page, pageOf } from './address.ts'
import { createAlarm } from './alarm.ts'
import { createApi } from './api.ts'
import { ServicesContext } from './context.ts'
import { createHistory, keepHistory } from './history.ts'
import { lazyPages } from './lazy-pages.ts'
import { createPainter } from './painter.ts'
import { createStore } from './store.ts'
import './styles/base.css'
import './styles/page.css'
import './styles/card.css'
import './styles/monitor.css'
import './styles/wall.css'
import { t } from './i18n.ts'
import { startLiveUpdates, startTopics } from './live-updates.ts'
import { loadPictures } from './performer-pictures.ts'
import { applyTheme, rememberedTheme } from './theme.ts'
import { createTopics } from './topics.ts'
import { viewOf } from './view.ts'
import { About } from './views/about.tsx'
import { BrokenPage } from './views/broken-page.tsx'
import { Monitor } from './views/monitor.tsx'
import { UnknownPage } from './views/unknown-page.tsx'
import { Wall } from './views/wall.tsx'

/** The live pages are part of the initial script, except for the channel page with its large chart library. */
const views: Partial<Record<Page, () => Promise<ComponentType>>> = {
  monitor: async () => Monitor,
  wall: async () => Wall,
  channel: async () => (await import('./views/channel.tsx')).Channel,
  about: async () => About,
  ...lazyPages,
}

/** Pages with live updates. */
const livePages: readonly Page[] = ['monitor', 'wall', 'channel']
/** Pages that need no connection. */
const unconnectedPages: readonly Page[] = ['about', 'sign_in', 'set_up', 'kiosk', 'unknown']

async function start(container: HTMLElement) {
  document.title = t('product')
  applyTheme(rememberedTheme(location.search))
  const mount = mountOf(import.meta.url)
  const page = pageOf(location.pathname, mount)
  const leaving = new AbortController()
  const api = createApi(mount, leaving.signal)
  const isLive = livePages.includes(page)
  const manufacturer = isLive ? await knownManufacturer(viewOf(location.search).manufacturer) : null
  const store = createStore({ now: Date.now(), manufacturer, hasAllLevels: page === 'channel' })
  const painter = createPainter(store)
  const history = createHistory(performance.now())
  const alarm = createAlarm(store)
  const topics = createTopics()

  const { signal } = leaving
  const watch = isLive
    ? startLiveUpdates({ store, api, socketUrl: socketUrl(), manufacturer, topics, signal })
    : { retry: () => location.reload() }
  if (isLive) {
    loadPictures(store, api, signal)
    keepHistory(store, history, signal)
  } else if (!unconnectedPages.includes(page)) startTopics(socketUrl(), topics, signal)

  // A script fails to load when the network fails or the service was updated.
  const View = await (views[page] ?? (async () => UnknownPage))().catch(() => BrokenPage)
  createRoot(container).render(
    <StrictMode>
      <ServicesContext value={{ mount, api, store, painter, history, alarm, topics, manufacturer, retry: watch.retry }}>
        <View />
      </ServicesContext>
    </StrictMode>,
  )
  if (page === 'about') await showHealth()

  /**
   * Returns the code if it is configured, or if that cannot be checked. An unknown code is ignored, like every unknown
   * value in the URL.
   */
  async function knownManufacturer(code: string | null): Promise<string | null> {
    if (code === null) return null
    const response = await api.health()
    if (!response.ok) return code
    return response.body.manufacturers.some((manufacturer) => manufacturer.code === code) ? code : null
  }

  function socketUrl(): string {
    const levels = page === 'channel' ? 'full' : String(isLive)
    const query = new URLSearchParams({ ack: '1', levels, ...(manufacturer !== null && { manufacturer }) })
    return `${location.origin.replace(/^http/, 'ws')}${mount}/ws?${query}`
  }

  async function showHealth() {
    const response = await api.health()
    if (response.ok) store.dispatch({ type: 'health', health: response.body, at: Date.now() })
  }
}

const container = document.getElementById('page')
if (container !== null) await start(container)
