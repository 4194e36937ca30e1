/** Programs that are there to hand out passwords, tokens and keys. */
import type { Rule } from '../rule.js';

const high = 'Prints secrets that are kept for safety.';

export const secretStores: readonly Rule[] = [
  { programs: 'secret-tool', verb: 'lookup search', high },
  { programs: 'security', verb: 'dump-keychain find-generic-password find-internet-password export', high },
  { programs: 'pass gopass', verb: /./, unless: { verb: 'ls list git help version init insert generate find edit' }, high },
  { programs: 'op', words: ['read', 'item get', 'document get', 'inject', 'run'], high },
  { programs: 'bw', verb: 'get list export', high },
  { programs: 'lpass', verb: 'show export', high },
  { programs: 'keepassxc-cli', verb: 'show export clip', high },
  { programs: 'kwallet-query', high },
  { programs: 'keyctl', verb: 'print pipe read', high },
  { programs: 'keyring', verb: 'get', high },
  { programs: 'vault', words: ['read', 'kv get', 'print token', 'login', 'token create', 'unwrap'], high },
  { programs: 'sops', verb: 'decrypt exec-env exec-file', high },
  { programs: 'sops', arg: '-d --decrypt', high },
  { programs: 'ansible-vault', verb: 'view decrypt', high },
  { programs: 'doppler', verb: 'secrets run', high },
  { programs: 'infisical', verb: 'secrets export run', high },
  { programs: 'chamber', verb: 'read export exec list', high },
  { programs: 'heroku', verb: 'config config:get auth:token', high },
  {
    programs: 'gcloud',
    words: [
      'secrets versions access',
      'auth print-access-token',
      'auth print-identity-token',
      'auth application-default print-access-token',
      'auth application-default print-identity-token',
      'iam service-accounts keys create',
      'kms decrypt',
    ],
    high,
  },
  {
    programs: 'az',
    words:
      /^(?:keyvault (?:secret|key|certificate) (?:show|download|backup)|account get-access-token|acr credential show|storage account keys list|ad sp create-for-rbac|aks get-credentials)\b/,
    high,
  },
  {
    programs: 'aws',
    words:
      /^(?:secretsmanager (?:get-secret-value|batch-get-secret-value)|iam create-(?:access-key|login-profile)|configure export-credentials|kms decrypt)\b|^configure get .*(?:secret|token)/,
    high,
  },
  { programs: 'aws', words: /^ssm get-param/, arg: '--with-decryption', high },
  { programs: 'doctl', words: ['auth token', 'kubernetes cluster kubeconfig show', 'databases connection'], high },
  { programs: 'gh', words: 'auth token', high },
  { programs: 'gh', words: 'auth status', arg: '-t --show-token', high },
  { programs: 'kubectl', words: 'config view', arg: '--raw', high },
  { programs: 'kubectl', words: 'create token', high },
  { programs: 'consul', words: ['kv get', 'kv export'], high },
  { programs: 'etcdctl', words: /^get\b.*(?:secret|password|token)/i, high },
  { programs: 'gpg gpg2', arg: /^--export-secret-(?:sub)?keys?$|^--export-ssh-key$/, high },
  { programs: 'openssl', verb: 'pkcs12', arg: '-nodes -noenc', high },
  { programs: 'docker', verb: 'inspect', arg: /^(?:-f|--format)=?.*(?:Env|\.Config)/, high },
  { programs: 'ssh-keygen', arg: '-y', high },
  { programs: 'docker-credential-*', verb: 'get', high },
];
