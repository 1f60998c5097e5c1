/** The Users page: user accounts and roles. */

import { useState } from 'react'
import type { UserBody } from '../../src/contract/resources/accounts.ts'
import { useResource } from '../app/resource.ts'
import { useSession } from '../app/session.ts'
import { Shell } from '../app/shell.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import '../parts/records.css'
import { t } from '../app/i18n.ts'
import { peopleColumns } from './people-columns.tsx'
import { PersonDialog, type PersonQuestion } from './person-dialogs.tsx'

/** No message announces a change of this list. */
const topics = [] as const

export function People() {
  const resource = useResource('/api/admin/users/', 'list', topics)
  const [dialog, setDialog] = useState<PersonQuestion | null>(null)
  const own = useSession()?.user?.id ?? null
  return (
    <Shell title={t('people.title')} intro={t('people.intro')}>
      <Loaded resource={resource}>
        {(users) => (
          <>
            <div className="list-actions">
              <button type="button" className="choice" data-tone="usual" onClick={() => setDialog({ kind: 'add' })}>
                {t('people.add')}
              </button>
            </div>
            <DataTable
              caption={t('people.list')}
              columns={peopleColumns({ own, lastAdmin: lastAdmin(users), onAsk: setDialog })}
              rows={users}
              idOf={({ id }) => id}
            />
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <PersonDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}

/** Returns the id of the only active local administrator, who cannot be removed; null if there are several. */
function lastAdmin(users: readonly UserBody[]): number | null {
  const admins = users.filter(({ role, is_active, issuer }) => role === 'admin' && is_active && issuer === null)
  return admins.length === 1 ? (admins[0]?.id ?? null) : null
}
