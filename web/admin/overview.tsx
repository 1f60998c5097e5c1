import { Link } from '@tanstack/react-router'
import type { StoreHealth } from '../../src/domain/equipment/health.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { useRequest } from '../app/resource.ts'
import { useSections } from '../app/sections.ts'
import { useMay } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { PageIcon } from '../parts/page-icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import '../parts/boxes.css'
import './overview.css'
import { t } from '../app/i18n.ts'
import { useOpenTasks } from './open-tasks.ts'

export function Overview() {
  const sections = useSections()
  const mayScan = useMay('operate')
  return (
    <Shell title={t('shell.overview.title')}>
      {mayScan ? (
        <p>
          <Link className="action" to={pathOf('find')}>
            {t('shell.pages.find.title')}
          </Link>
        </p>
      ) : null}
      <OpenTaskList />
      {sections.map(({ name, pages }) => (
        <section key={name} className="overview-section">
          <h2>{t(`shell.sections.${name}`)}</h2>
          <ul className="page-list">
            {pages.map((page) => (
              <li key={page}>
                <Link className="page-link" to={pathOf(page)}>
                  <PageIcon page={page} />
                  <strong>{t(`shell.pages.${page}.title`)}</strong>
                  <span>{t(`shell.pages.${page}.description`)}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Shell>
  )
}

function OpenTaskList() {
  const { items, store, problem, reload } = useOpenTasks()
  const isStoreHealthy = store === null || store.status === 'healthy'
  return (
    <section
      className="overview-section"
      aria-label={t('shell.overview.todo')}
      aria-busy={items === null && problem === null}
    >
      <h2>{t('shell.overview.todo')}</h2>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {isStoreHealthy ? null : <StoreNotice store={store} onDone={reload} />}
      {items === null ? (
        <p className="count">{problem === null ? t('parts.loading') : t('shell.overview.unknown')}</p>
      ) : items.length === 0 && isStoreHealthy ? (
        <p className="count">{t('shell.overview.nothing')}</p>
      ) : (
        <ul className="task-list">
          {items.map(({ key, text, description, path, search }) => (
            <li key={key}>
              <Link to={path} search={search}>
                {text}
              </Link>
              {description === undefined || description === null ? null : <bdi>{plainText(description)}</bdi>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function StoreNotice({ store: { status, details }, onDone }: { store: StoreHealth; onDone: () => Promise<void> }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const mayAcknowledge = useMay('administer')
  const { send, isSending } = useRequest()
  const acknowledge = async () => {
    const response = await send(() => api.write('POST', '/api/admin/store/acknowledge', undefined, 'object'))
    if (response === null) return
    showMessage(response.ok ? { text: response.body.message } : { text: response.problem.detail, tone: 'alarm' })
    await onDone()
  }
  if (status === 'healthy') return null
  return (
    <div className="failure-box" role="alert">
      <StateIcon state="battery_critical" />
      <p>
        <strong>{t(`shell.overview.store.${status}`)}</strong> {details}
      </p>
      {status !== 'restored' ? null : mayAcknowledge ? (
        <button type="button" className="choice" disabled={isSending} onClick={acknowledge}>
          {t('shell.overview.acknowledge')}
        </button>
      ) : (
        <span>{t('shell.requires.admin')}</span>
      )}
    </div>
  )
}
