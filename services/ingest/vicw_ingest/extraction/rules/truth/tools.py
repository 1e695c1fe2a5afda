"""What people move to and do not live in: technologies, by what they are called.

A list has the common ones alone, so the form of a name tells of others; of *we* and a team, the words around it do.
"""

from __future__ import annotations

import re

_TOOLS = frozenset(
    # languages and what runs them
    "python javascript typescript rust golang kotlin scala swift ruby php perl haskell elixir erlang clojure ocaml "
    "fortran cobol matlab julia lua dart zig solidity node deno bun jvm dotnet wasm webassembly "
    # frameworks and libraries
    "react angular vue svelte django flask fastapi rails laravel spring quarkus express nextjs nuxt remix flutter "
    "pytorch tensorflow keras numpy pandas polars spark flink airflow dagster celery pydantic sqlalchemy hibernate "
    "graphql grpc rest openapi protobuf thrift bootstrap tailwind webpack vite esbuild pytest junit selenium "
    "playwright cypress "
    # databases, queues, search
    "postgres postgresql mysql mariadb sqlite oracle mongodb mongo redis memcached cassandra dynamodb couchdb "
    "cockroachdb clickhouse duckdb snowflake bigquery redshift neo4j qdrant milvus pinecone weaviate elasticsearch "
    "opensearch solr kafka rabbitmq nats pulsar supabase firebase "
    # where things run
    "kubernetes k8s docker podman containerd nomad mesos openshift openstack helm terraform ansible puppet pulumi "
    "vagrant jenkins circleci travis argocd aws azure gcp heroku vercel netlify cloudflare digitalocean linode hetzner "
    "lambda fargate nginx apache caddy traefik envoy istio linux ubuntu debian fedora centos alpine windows macos "
    "android ios unix vmware proxmox prometheus grafana datadog sentry splunk kibana jaeger opentelemetry "
    # what teams work with
    "git github gitlab bitbucket subversion mercurial jira linear asana trello notion confluence slack discord zoom "
    "teams mattermost basecamp clickup airtable figma sketch miro salesforce hubspot zendesk intercom stripe paypal "
    "shopify wordpress drupal gmail outlook dropbox excel sheets vscode vim emacs neovim intellij pycharm eclipse "
    # ways of working
    "scrum kanban agile devops microservices microservice monorepo serverless https ipv6 utf-8 json yaml toml xml "
    "markdown".split()
)
_VENDORS = frozenset("google amazon microsoft apple apache oracle ibm red hashicorp jetbrains adobe atlassian".split())
_MADE_BY_THEM = frozenset(
    "cloud web workspace docs drive meet chat sheets calendar teams azure office 365 s3 ec2 rds ecs eks lambda music "
    "silicon kafka spark airflow flink hat vault".split()
)
_FORM = re.compile(
    r"[A-Z]?[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]+\w*|\w+\.(?:js|py|io|net|ai|dev|rs)|\w{2,}(?:DB|SQL|JS|QL|ML|OS|Ops|Hub|Kit)"
)
"""PlanetScale, FaunaDB, Vue.js."""
_NAMES_OF_PEOPLE = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van|O)[A-Z]")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?: LTS)?")
_NUMBERED_PLACES = frozenset(
    "unit building block room floor suite flat apartment district sector zone area terminal gate lot house number "
    "route highway pier warehouse hall level bay office station camp".split()
)
_ARTICLES = frozenset({"the", "a", "an", "our", "new"})
_TECHNICAL = re.compile(
    r"\b(?:servers?|services?|microservices?|clusters?|databases?|pipelines?|builds?|deploy\w*|repos?|repositor\w+|"
    r"codebase|backend|frontend|apis?|apps?|stack|framework|librar(?:y|ies)|container\w*|ci|queues?|cache|tickets?|"
    r"monolith|architecture|runtime|compiler|releases?|logging|monitoring|infrastructure|hosting|scripts?|software)\b",
    re.IGNORECASE,
)


def is_tool(value: str) -> bool:
    """Tell whether a value names a technology: one that is known, or has the form of one.

    >>> is_tool("Kubernetes"), is_tool("Postgres 16"), is_tool("FaunaDB"), is_tool("Amazon S3")
    (True, True, True, True)
    >>> is_tool("Porto"), is_tool("Unit 12"), is_tool("Spring Valley"), is_tool("the McDonald house")
    (False, False, False, False)
    """
    words = value.split()
    while words and words[0].casefold() in _ARTICLES:
        words = words[1:]
    if not words:
        return False
    first, second = words[0].strip(",.;:"), words[1].strip(",.;:") if len(words) > 1 else ""
    if first.casefold() in _VENDORS and second.casefold() in _MADE_BY_THEM:
        return True
    if _VERSION.fullmatch(second):
        return "." in second or first.casefold() not in _NUMBERED_PLACES
    if second[:1].isupper() and second.casefold() not in _TOOLS:
        return False  # Spring Valley
    shaped = _FORM.fullmatch(first) is not None and not _NAMES_OF_PEOPLE.match(first)
    return first.casefold() in _TOOLS or shaped


def is_technical(text: str) -> bool:
    """Tell whether a sentence speaks of what programs are made of and run on."""
    return _TECHNICAL.search(text) is not None
