import type { OwnSessionBody } from '../../src/contract/access.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { Ago } from '../parts/age.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { DataTable } from '../parts/tables/data-table.tsx'
import { browserOf } from './browser-name.ts'

export function OwnSessions() {
  const { api } = useServices()
  const sessions = useResource('/api/auth/sessions/', 'list')
  const { send, isSending, problem } = useRequest()
  const end = async ({ id }: OwnSessionBody) => {
    await send(() => api.write('DELETE', `/api/auth/sessions/${id}/`, undefined, 'nothing'))
    await sessions.reload()
  }
  return (
    <>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <Loaded resource={sessions}>
        {(rows) => (
          <DataTable
            caption={t('access.sessions.title')}
            rows={rows}
            idOf={({ id }) => id}
            columns={[
              {
                key: 'agent',
                title: t('access.sessions.browser'),
                cell: ({ agent }) => (
                  <bdi title={agent ?? undefined}>
                    {agent === null ? t('access.sessions.unknown') : browserOf(plainText(agent))}
                  </bdi>
                ),
              },
              {
                key: 'address',
                title: t('access.sessions.address'),
                cell: ({ address }) => address ?? t('access.sessions.unknown'),
              },
              {
                key: 'created_at',
                title: t('access.sessions.signedIn'),
                cell: ({ created_at }) => <Ago at={created_at} />,
              },
              {
                key: 'last_used_at',
                title: t('access.sessions.lastUsed'),
                cell: ({ last_used_at }) => <Ago at={last_used_at} />,
              },
              {
                key: 'actions',
                title: t('access.sessions.actions'),
                cell: (session) =>
                  session.current ? (
                    t('access.sessions.current')
                  ) : (
                    <button type="button" className="choice" disabled={isSending} onClick={() => end(session)}>
                      {t('access.sessions.end')}
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  )
}
