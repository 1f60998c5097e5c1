import { QueryClientProvider } from '@tanstack/react-query'
import { type AnyRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { mountOf } from './address.ts'
import { Alarm } from './alarm.ts'
import { createApi } from './api.ts'
import { createChartFill } from './chart-fill.ts'
import { type Services, ServicesContext } from './context.ts'
import { createHistory, keepHistory } from './history.ts'
import './base.css'
import './page.css'
import '../parts/card/card.css'
import '../monitor/monitor.css'
import '../parts/forms/form.css'
import { createLiveUpdates } from './live-updates.ts'
import { MissedAlerts } from './missed-alerts.ts'
import { createPainter } from './painter.ts'
import { createQueryClient } from './query-client.ts'
import { createPages } from './routes.tsx'
import { serviceNow } from './service-time.ts'
import { createTopics } from './topics.ts'
import { applyTheme, rememberedTheme } from './use-view.ts'
import { Watch } from './watch.ts'

function createServices(mount: string, signal: AbortSignal) {
  const api = createApi(mount, signal)
  const watch = new Watch(serviceNow())
  const topics = createTopics()
  const history = createHistory(serviceNow())
  const socketUrl = `${location.origin.replace(/^http/, 'ws')}${mount}/ws`
  const live = createLiveUpdates({ watch, api, socketUrl, topics, signal })
  keepHistory(watch, history, signal)
  const painter = createPainter(watch)
  const services: Services = {
    ...{ mount, api, watch, live, history, painter, replay: null },
    chartFill: createChartFill({ api, watch, history, redraw: painter.remeasure, signal }),
    alarm: new Alarm(watch),
    missedAlerts: new MissedAlerts(topics, api),
  }
  return { services, queryClient: createQueryClient(topics, signal) }
}

function start(container: HTMLElement, router: (mount: string) => AnyRouter) {
  applyTheme(rememberedTheme(location.search))
  const mount = mountOf(import.meta.url)
  const { services, queryClient } = createServices(mount, new AbortController().signal)
  createRoot(container).render(
    <QueryClientProvider client={queryClient}>
      <ServicesContext value={services}>
        <RouterProvider router={router(mount)} />
      </ServicesContext>
    </QueryClientProvider>,
  )
}

const page = document.getElementById('page')
if (page !== null) start(page, createPages)
// On the pages of the help.
const status = document.getElementById('status')
if (status !== null) void import('./help.tsx').then(({ createHelp }) => start(status, createHelp))
