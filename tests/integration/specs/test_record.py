import json, socket, base64
from pathlib import Path
from harness.core.waiting import wait_until
from harness.kube.resources import *
OUT=Path("/work/main/tests/data/answers")
def test_record(platform):
    c=platform.client; ns="strandline-canary"
    ag=c.as_service_account(ns,"agent"); co=c.as_service_account(ns,"controller")
    def rec(name, a):
        body={"status":a.status,"message":a.message}
        assert a.status>=400,(name,a)
        (OUT/f"{name}.json").write_text(json.dumps({"kubernetes":c.version(),**body},indent=2)+"\n"); print(name,body)
    run=lambda name,cap="sim.measure_mass",**m: {"apiVersion":"lab.strandline.dev/v1alpha1","kind":"LabRun","metadata":{"name":name,**m},"spec":{"steps":[{"id":"weigh","capability":cap,"inputs":{"sample_id":"x"}}]}}
    P=LAB_RUNS.path(ns)
    dry={"dryRun":"All"}
    mp="application/merge-patch+json"
    wait_until(lambda: ag.ask("POST",P,body=run("a",labels={"strandline.dev/run":"x"}),query=dry).status, lambda s: s==403, what="policy", timeout_s=10)
    rec("policy", ag.ask("POST",P,body=run("a",labels={"strandline.dev/run":"x"}),query=dry))
    rec("rbac", ag.ask("DELETE",NAMESPACES.path(None,"default"),query=dry))
    rec("rbac-collection", ag.ask("GET",SECRETS.path(ns)))
    rec("rbac-subresource", ag.ask("PATCH",LAB_RUNS.path(ns,"a","status"),body={},content_type=mp))
    rec("webhook", ag.ask("POST",P,body=run("a","sim.unheard_of"),query=dry))
    rec("webhook-mutating", ag.ask("POST",P,body={**run("a"),"status":{"state":"completed"}},query=dry))
    rec("schema", ag.ask("POST",P,body={**run("a"),"spec":{}},query=dry))
    rec("schema-strict", ag.ask("POST",P,body={**run("a"),"extra":1},query={**dry,"fieldValidation":"Strict"}))
    c.create(LAB_RUNS,run("rec"),namespace=ns)
    rec("schema-transition", co.ask("PATCH",LAB_RUNS.path(ns,"rec","status"),body={"status":{"state":"completed"}},content_type=mp))
    def gone():
        try: return not c.delete(LAB_RUNS,"rec",namespace=ns)
        except Exception as e: print(e); return False
    wait_until(gone,bool,what="x",timeout_s=10)
    rec("not-found", ag.ask("GET",LAB_RUNS.path(ns,"nothing")))
    rec("kind-missing", c.ask("GET","/apis/lab.strandline.dev/v1alpha1/ghosts"))
    rec("conflict", c.ask("POST",NAMESPACES.path(),body={"metadata":{"name":"default"}}))
    # escalation and impersonation
    rec("impersonation", c.ask("GET",SECRETS.path(ns)) if False else _nested(c, ns))
    role={"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"maker"},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"verbs":["create"]}]}
    c.create(CLUSTER_ROLES,role)
    c.create(CLUSTER_ROLE_BINDINGS,{"metadata":{"name":"maker"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"maker"},"subjects":[{"kind":"ServiceAccount","name":"grader","namespace":ns}]})
    gr=c.as_service_account(ns,"grader")
    wide={**role,"metadata":{"name":"wide"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}
    a=wait_until(lambda: gr.ask("POST",CLUSTER_ROLES.path(),body=wide,query=dry), lambda a: "attempting" in a.message, what="esc", timeout_s=5)
    rec("rbac-escalation", a)
    c.delete(CLUSTER_ROLES,"maker"); c.delete(CLUSTER_ROLE_BINDINGS,"maker")
    # outages
    hook=c.get(VALIDATING_WEBHOOKS,"strandline-validate")
    def patch(**kw):
        w=dict(hook["webhooks"][0]); cc=dict(w["clientConfig"]); 
        for k,v in kw.items():
            if k in ("url","caBundle","service"): cc[k]=v
            else: w[k]=v
        if "service" in kw: cc.pop("url")
        w["clientConfig"]=cc
        c.patch(VALIDATING_WEBHOOKS,"strandline-validate",{"webhooks":[w]})
    import trustme
    def outage(name,text,**kw):
        patch(**kw)
        a=wait_until(lambda: ag.ask("POST",P,body=run("a"),query=dry), lambda a: a.status>=400 and text in a.message, what=name, timeout_s=10)
        rec(name,a)
    outage("webhook-wrong-ca","x509",caBundle=base64.b64encode(trustme.CA().cert_pem.bytes()).decode())
    with socket.socket() as s:
        s.bind(("127.0.0.1",0)); s.listen(16)
        outage("webhook-silent","",url=f"https://127.0.0.1:{s.getsockname()[1]}/validate",timeoutSeconds=1)
        port=s.getsockname()[1]
    outage("webhook-down","refused",url=f"https://127.0.0.1:{port}/validate")
    patch(url="https://"+platform.cluster.server.removeprefix("https://")+"/validate", caBundle=base64.b64encode(platform.cluster.ca_pem).decode())
    a=wait_until(lambda: ag.ask("POST",P,body=run("a"),query=dry), lambda a: a.status>=400 and "refused" not in a.message, what="other", timeout_s=10)
    rec("webhook-other-server",a)
def _nested(c,ns):
    import urllib3
    tok=c.request_token(ns,"agent",lifetime_s=600)
    from harness.kube.client import KubeClient
    k=KubeClient(c._api, headers=urllib3.HTTPHeaderDict({"Authorization":"Bearer "+tok,"Impersonate-User":"admin"}))
    return k.ask("GET",SECRETS.path(ns))
