import type { ReactNode } from 'react'
import '../app/shell.css'
import './access.css'
import type { Api, ApiResponse } from '../app/api.ts'
import { t } from '../app/i18n.ts'
import type { Address, Received, Sent } from '../app/operations.ts'
import { usePageTitle } from '../app/page-title.ts'
import { BrandSign } from '../app/top-bar.tsx'

export function AccessPage({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <div className="access">
      <header className="access-product">
        <BrandSign />
        {t('product')}
      </header>
      <main className="access-page">
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  )
}

export async function sendCredentials<const A extends Address<'POST'>>(
  api: Api,
  address: A,
  credentials: Sent<'POST', A>,
): Promise<ApiResponse<Received<'POST', A, 'object'>>> {
  const response = await api.write('POST', address, credentials, 'object')
  if (response.ok || response.problem.kind === 'unreachable') return response
  return { ok: false, problem: { ...response.problem, kind: 'refused' } }
}
