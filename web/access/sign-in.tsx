/** After sign-in, opens the page that the user requested. */

import { useState } from 'react'
import { oidcProblems } from '../../src/domain/access/oidc.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { safeNext } from '../app/address.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Field, PasswordField } from '../parts/forms/field.tsx'
import { focused } from '../parts/forms/focused.ts'
import { Form } from '../parts/forms/form.tsx'
import { AccessPage, sendCredentials } from './access-page.tsx'

/** `busy`: too many sign-ins were started. */
const problems = [...oidcProblems, 'busy'] as const

function problemOf(search: string): (typeof problems)[number] | null {
  const code = new URLSearchParams(search).get('problem')
  return problems.find((problem) => problem === code) ?? null
}

export function SignIn() {
  const { mount, api } = useServices()
  const { body: setup } = useResource('/api/auth/setup', 'object')
  const next = safeNext(new URLSearchParams(location.search).get('next'), { origin: location.origin, mount })
  const [isCodeNeeded, setCodeNeeded] = useState(false)
  const send = async (values: FormData) => {
    // Another user may need no code.
    if (values.get('code') === '') values.delete('code')
    const response = await sendCredentials(api, '/api/auth/login', Object.fromEntries(values))
    if (!response.ok && response.problem.field === 'code') setCodeNeeded(true)
    return response
  }
  const problem = problemOf(location.search)
  const label = setup?.single_sign_on ?? null
  return (
    <AccessPage title={t('pages.signIn')}>
      {problem === null ? null : (
        <p className="problem" role="alert">
          {t(`access.signIn.problems.${problem}`)}
        </p>
      )}
      {setup?.needed !== true ? null : (
        <p>
          {t('access.signIn.setUpFirst')} <a href={mount + pathOf('set_up')}>{t('access.signIn.setUpLink')}</a>
        </p>
      )}
      {label === null ? null : <SingleSignOn label={label} next={next} />}
      <Form action={t('access.signIn.action')} send={send} onDone={() => location.replace(next ?? `${mount}/`)}>
        <Field
          name="username"
          label={t('access.signIn.username')}
          autoComplete="username"
          autoCapitalize="none"
          {...focused}
        />
        <PasswordField name="password" label={t('access.signIn.password')} autoComplete="current-password" />
        {isCodeNeeded ? (
          <Field
            name="code"
            label={t('access.signIn.code')}
            hint={t('access.signIn.codeHint')}
            autoComplete="one-time-code"
            {...focused}
          />
        ) : null}
      </Form>
      {next === null ? null : (
        <p className="hint">
          {t('access.signIn.nextPage')} <code>{next}</code>
        </p>
      )}
      <details className="hint">
        <summary>{t('access.signIn.forgottenTitle')}</summary>
        <p>{t('access.signIn.forgotten')}</p>
        <code>micwatch create_admin --username … --reset</code>
      </details>
    </AccessPage>
  )
}

/** A link, because sign-in opens the provider's page. */
function SingleSignOn({ label, next }: { label: string; next: string | null }) {
  const { mount } = useServices()
  const query = next === null ? '' : `?${new URLSearchParams({ next })}`
  return (
    <div className="access-provider">
      <a className="choice" href={`${mount}/api/auth/oidc/login${query}`}>
        {plainText(label)}
      </a>
      <p className="access-or">{t('access.signIn.orLocal')}</p>
    </div>
  )
}
